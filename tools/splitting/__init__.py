"""A learned splitter: which two questions a question comes down to, and what a follow-up asks in full.

`split` asks the writer: its words (`vocabulary`), the `source` that it copies from, its `network` and `weights`, `writing` word by word.
"""

from ramify.tools.splitting.split import Split as Split
from ramify.tools.splitting.split import rewrite as rewrite
from ramify.tools.splitting.split import splits as splits
