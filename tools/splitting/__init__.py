"""The writer: a trained network that splits a question into two, and completes follow-up questions.

`writing` loads and runs the writer; `network` is its layers.
"""

from ramify.tools.splitting.writing import Split as Split
from ramify.tools.splitting.writing import find_splits as find_splits
from ramify.tools.splitting.writing import rewrite_follow_up as rewrite_follow_up

__all__: list[str] = []
