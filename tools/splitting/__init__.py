"""The writer: a trained network that splits a question into two, and completes follow-up questions.

`writing` loads and runs the writer; `network` is its layers.
"""

from ramify.tools.splitting.writing import Split as Split
from ramify.tools.splitting.writing import rewrite as rewrite
from ramify.tools.splitting.writing import splits as splits

__all__: list[str] = []
