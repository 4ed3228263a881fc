"""Wiring: one strategy a file, edges and conditions only."""
