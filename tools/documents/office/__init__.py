"""Office documents, books and mails: through the libraries that know their formats."""
