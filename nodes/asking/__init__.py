"""The way to the model: a prompt rendered, made to fit, asked within the budget, and its reply read."""
