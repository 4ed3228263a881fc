"""The commands `ramify test` and `ramify verify`."""
