"""What is here and what is missing: the checks of `ramify doctor`."""
