"""Measurements. Nothing here is part of the installed package: run it from a clone, see docs/results.md."""
