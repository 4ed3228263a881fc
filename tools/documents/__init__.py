"""Files as they are: found, read by one reader a format, and given as LangChain documents."""
