"""Office documents, books and mails: through the libraries that know their formats.

`microsoft`, `opendocument`, `epub` and `mail`; what is zipped is opened by `container`, which also reads its properties.
"""
