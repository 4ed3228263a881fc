"""Tests of a corpus (`ramify test`), and checks of an answer that ask no model (`ramify verify`)."""

__all__: list[str] = []
