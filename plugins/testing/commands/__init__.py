"""The commands `ramify test` and `ramify verify`."""

__all__: list[str] = []
