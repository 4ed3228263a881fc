"""Work handed to the workers of a Ray cluster: joining or starting one, and passages encoded on it.

`address` finds a `cluster`, `machines` looks at who is in it, `encoding` has passages encoded there.
"""

from ramify.tools.ray.cluster import Cluster, LostError, joined, plainly

__all__ = ["Cluster", "LostError", "joined", "plainly"]
