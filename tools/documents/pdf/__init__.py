"""PDF (`read_pdf`): `lines` by where they stand, without `head_and_foot`, joined to `paragraphs` and cut by the `outline` into sections."""
