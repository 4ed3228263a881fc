"""The checks of `ramify doctor`: the `checkup`, and the `capabilities` that not everybody needs."""
