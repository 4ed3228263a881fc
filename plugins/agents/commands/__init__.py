"""The command `ramify grep`."""

__all__: list[str] = []
