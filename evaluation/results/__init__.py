"""A `run` as it is read: its lines in their groups, `measures` of them, the `columns` these make, and lines `paired` by question."""
