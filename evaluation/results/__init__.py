"""A run as it is read: its lines in their groups, and what is measured on them and between them."""
