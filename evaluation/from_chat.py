"""Questions that were asked and rated in `ramify serve`: a right answer is the gold, a wrong one is for a person to write."""

import hashlib
from pathlib import Path

from ramify.evaluation.load.own_questions import NEEDS_ANSWER
from ramify.evaluation.proposing import is_repeated
from ramify.evaluation.question_file import Proposed, QuestionFile
from ramify.graphs.memory import SQLITE
from ramify.graphs.ratings import CONVERSATIONS, Rated, rated
from ramify.tools.errors import InputError


def add_rated(memory: str, file: QuestionFile) -> int:
    """Add the rated questions of a memory (an address, or a server's folder) that the file lacks; return their number. Blocking.

    InputError if there are no conversations.
    """
    folder = Path(memory).expanduser()
    where = f"{SQLITE}{folder / CONVERSATIONS}" if "://" not in memory and not memory.startswith(SQLITE) else memory
    if where.startswith(SQLITE) and not Path(where.removeprefix(SQLITE)).expanduser().is_file():
        raise InputError(f"there are no conversations in {memory!r}", "give the folder or address that `ramify serve` stores them in")
    before = len(file.rows)
    for one in rated(where):
        if not is_repeated(one.question, file):
            file.add(_question(one))
    return len(file.rows) - before


def _question(one: Rated) -> Proposed:
    id = f"chat-{hashlib.sha256(one.question.encode()).hexdigest()[:8]}"
    told = {"id": id, "question": one.question, "type": "chat", "made_by": f"rated {one.rating} in the conversation {one.thread}"}
    if one.rating == "down":
        return {**told, NEEDS_ANSWER: True}
    return {**told, "answer": one.answer, "source": one.sources[0] if len(one.sources) == 1 else list(one.sources)}
