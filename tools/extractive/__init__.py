"""A chat model with no language model in it: an encoder, spans and rules."""
