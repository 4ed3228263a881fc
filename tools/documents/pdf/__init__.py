"""PDF (`read_pdf`): `lines` by their positions, without `head_and_foot`, joined to paragraphs and cut into sections."""
