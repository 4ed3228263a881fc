"""Asking: one question with one variant, and many at once."""
