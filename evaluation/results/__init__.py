"""A run as it is read: its lines in their groups, what is measured on them, and the papers' figures to lay beside."""
