"""Steps: one step a file; and the values they work on."""
