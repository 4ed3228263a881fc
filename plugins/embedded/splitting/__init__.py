"""The writer: a trained network that splits a question into two, and completes follow-up questions.

`writing` loads and runs the writer, `rewriting` completes follow-up questions with it; `network` is its layers.
"""

from ramify.embedded.splitting.rewriting import Rewriting as Rewriting
from ramify.embedded.splitting.rewriting import log_probabilities as log_probabilities
from ramify.embedded.splitting.rewriting import rewrite_follow_up as rewrite_follow_up
from ramify.embedded.splitting.writing import Split as Split
from ramify.embedded.splitting.writing import find_splits as find_splits

__all__: list[str] = []
