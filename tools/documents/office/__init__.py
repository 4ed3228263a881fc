"""Office documents, books and mails: through the libraries that know their formats.

A format a file: `word`, `slides`, `workbook`, `opendocument`, `epub`, `mail`; what is zipped is opened by `container`, and says of itself
what `document_properties` read.
"""
