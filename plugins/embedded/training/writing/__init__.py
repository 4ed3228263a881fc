"""Material for the writer: questions split in two, and follow-ups written so that they stand alone."""
