"""The encoders: `packaged`, and those that are downloaded, multilingual `e5` (in `four_bits` a weight) and `mpnet` (`mpnet_download`).

`downloads` has what `ramify download` does for them.
"""

__all__: list[str] = []
