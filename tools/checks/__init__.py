"""What is here and what is missing, for `ramify doctor`: the `checkup`, and the `capabilities` that not everybody needs."""
