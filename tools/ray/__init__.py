"""Work handed to the workers of a Ray cluster: joining or starting one, and passages encoded on it.

`cluster` joins or starts one and checks its machines, `encoding` encodes passages on it.
"""
