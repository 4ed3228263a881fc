"""PDF (`read_pdf`): `lines` by their positions, without heads and feet of pages, joined to paragraphs and cut into sections."""

__all__: list[str] = []
