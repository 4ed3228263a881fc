"""What an index holds, for a reader: in a terminal, on a page, as JSON."""
