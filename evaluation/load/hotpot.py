"""HotpotQA (Yang et al. 2018), distractor or full-wiki, and 2WikiMultihopQA (Ho et al. 2020), which has the same shape and `evidences`.

As released, `context` is `[[title, [sentence, …]], …]` and `supporting_facts` is `[[title, sentence number], …]`. Later releases give them
as columns (`{"title": […], "sentences": […]}`), or either as JSON within a string.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from ramify.evaluation.dataset import Dataset, Question, Support
from ramify.evaluation.load.assemble import Read, answer_of, assemble, text_of
from ramify.evaluation.load.pool import Pool, malformed, release_name
from ramify.evaluation.load.records import Record, read_records

ALIASES = "id_aliases.json"
CONTEXT = "a list of [title, [sentence, …]]"
FACTS = "a list of [title, sentence number]"


class Paragraph(NamedTuple):
    """A paragraph of the pool."""

    id: str
    sentences: list[str]


Context = dict[str, Paragraph]
"""A question's own paragraphs by their titles."""


def load_hotpot(file: Path, records: list[Record], work: Path) -> Dataset:
    """Load the questions of a file, with all their paragraphs as the corpus."""
    two_wiki = any("evidences" in record.value for record in records)
    pool = Pool("2wk" if two_wiki else "hpq")
    contexts = [_context(record, pool) for record in records]
    aliases = _aliases(file.with_name(ALIASES))
    read = [
        Read(record.place, _question(record, _supporting(record, context, pool), aliases))
        for record, context in zip(records, contexts, strict=True)
    ]
    name = release_name("2wikimultihopqa" if two_wiki else "hotpotqa", file)
    golds = {identity for _, question in read for identity in question.gold_documents}
    return assemble(name, read, pool.write(work, name), caveats=pool.caveats(len(golds)), absent=pool.absent)


def _question(record: Record, supporting: tuple[Support, ...], aliases: dict[str, list[str]]) -> Question:
    value = record.value
    metadata = {key: value[key] for key in ("level", "evidences", "answer_id") if value.get(key)}
    return Question(
        id=text_of(record, "_id" if "_id" in value else "id"),
        question=text_of(record, "question"),
        answer=answer_of(record),
        aliases=tuple(aliases.get(str(value.get("answer_id")), ())),
        type=str(value.get("type") or ""),
        supporting=supporting,
        metadata=metadata,
    )


def _context(record: Record, pool: Pool) -> Context:
    """Add a question's paragraphs to the pool, all before any gold is looked up: full-wiki files have the gold ones elsewhere."""
    context: Context = {}
    for title, sentences in _pairs(record, "context", CONTEXT, "title", "sentences", "content"):
        if not isinstance(sentences, list):
            raise malformed(record, "context", CONTEXT)
        said = [str(sentence).strip() for sentence in sentences]
        context.setdefault(str(title), Paragraph(pool.add(str(title), " ".join(filter(None, said))), said))
    return context


def _supporting(record: Record, context: Context, pool: Pool) -> tuple[Support, ...]:
    numbers: dict[str, list[Any]] = {}
    for title, number in _pairs(record, "supporting_facts", FACTS, "title", "sent_id"):
        numbers.setdefault(str(title), []).append(number)
    own = {title: context.get(title) or Paragraph(pool.titled(title), []) for title in numbers}
    found = []
    for title, (identity, sentences) in own.items():  # the release has numbers beyond the end
        facts = [sentences[number] for number in numbers[title] if isinstance(number, int) and 0 <= number < len(sentences)]
        found.append(Support(doc_id=identity, title=title, facts=tuple(facts)))
    return tuple(found)


def _pairs(record: Record, field: str, shape: str, *columns: str) -> list[tuple[Any, Any]]:
    """Read a list of pairs, in any of the shapes that releases give it in."""
    value = record.value.get(field)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise malformed(record, field, shape) from error
    if isinstance(value, dict):
        first, second = (value.get(columns[0]), next((value[name] for name in columns[1:] if name in value), None))
        value = list(zip(first, second, strict=False)) if isinstance(first, list) and isinstance(second, list) else None
    if not isinstance(value, list) or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in value):
        raise malformed(record, field, shape)
    return [(first, second) for first, second in value]


def _aliases(file: Path) -> dict[str, list[str]]:
    """Read the other names of answers, by the `answer_id` of 2WikiMultihopQA."""
    if not file.is_file():
        return {}
    values = [record.value for record in read_records(file)]
    return {str(value.get("Q_id")): [*value.get("aliases", ()), *value.get("demonyms", ())] for value in values}
