"""PDF: lines by where they stand, joined to paragraphs and cut into sections."""
