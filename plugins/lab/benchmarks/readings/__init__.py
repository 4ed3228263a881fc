"""Questions that the reader is measured on, and how they are drawn."""
