"""A trained splitter: which two questions a question comes down to, and what a follow-up asks in full.

`writing` loads and runs the writer; `network` is its layers.
"""

from ramify.tools.splitting.writing import Split as Split
from ramify.tools.splitting.writing import rewrite as rewrite
from ramify.tools.splitting.writing import splits as splits

__all__: list[str] = []
