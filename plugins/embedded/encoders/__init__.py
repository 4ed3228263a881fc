"""The encoders: `packaged`, and those that are downloaded, multilingual `e5` (in `four_bits` a weight) and `mpnet`."""

__all__: list[str] = []
