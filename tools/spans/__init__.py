"""Short answers read out of passages, and how sure they are."""
