"""Searching alone, without a model: in several ways, and where metadata are degraded."""
