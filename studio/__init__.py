"""The doors people come in by."""
