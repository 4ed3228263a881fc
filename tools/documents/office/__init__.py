"""Office documents, books and mails: through the libraries that know their formats.

`microsoft` (also: opening what is zipped), `opendocument` (also EPUB) and `mail`.
"""

__all__: list[str] = []
