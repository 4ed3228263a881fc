"""A learned splitter: which two questions a question comes down to, and what a follow-up asks in full.

`split` calls the writer, which is loaded and run by `writing`; `network` is its layers.
"""

from ramify.tools.splitting.split import Split as Split
from ramify.tools.splitting.split import rewrite as rewrite
from ramify.tools.splitting.split import splits as splits
