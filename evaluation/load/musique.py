"""MuSiQue (Trivedi et al. 2022): questions with twenty paragraphs each, aliases of the answer and a decomposition."""

from pathlib import Path

from ramify.evaluation.dataset import Dataset, Question, Support
from ramify.evaluation.load.assemble import Read, answer_of, assemble, list_of, text_of
from ramify.evaluation.load.pool import Pool, malformed, release_name
from ramify.evaluation.load.records import Record
from ramify.tools.errors import InputError


def load_musique(file: Path, records: list[Record], work: Path) -> Dataset:
    """Load the questions of a file, with all their paragraphs as the corpus."""
    pool = Pool("msq")
    supporting = [_supporting(record, pool) for record in records]
    answerable = [(record, gold) for record, gold in zip(records, supporting, strict=True) if record.value.get("answerable", True)]
    if not answerable:
        raise InputError(f"{str(file)!r} marks every question as unanswerable", "give a file with answerable ones")
    read = [Read(record.place, _question(record, gold)) for record, gold in answerable]
    name = release_name("musique", file)
    golds = {identity for _, question in read for identity in question.gold_documents}
    caveats = pool.caveats(len(golds))
    # MuSiQue-Full has each of them twice under one id, once without the paragraph that tells; in the pool that paragraph is there again.
    if left_out := len(records) - len(read):
        told = f"Questions marked unanswerable are left out ({left_out}): what their own paragraphs lack, the pool of all paragraphs holds."
        caveats.append(told)
    return assemble(name, read, pool.write(work, name), caveats=caveats)


def _question(record: Record, supporting: tuple[Support, ...]) -> Question:
    identity = text_of(record, "id")
    decomposition = list_of(record, "question_decomposition")
    return Question(
        id=identity,
        question=text_of(record, "question"),
        answer=answer_of(record),
        aliases=tuple(map(str, list_of(record, "answer_aliases"))),
        type=identity.split("__")[0] if "__" in identity else "",
        supporting=supporting,
        metadata={"decomposition": decomposition} if decomposition else {},
    )


def _supporting(record: Record, pool: Pool) -> tuple[Support, ...]:
    """Add all paragraphs to the pool and give the gold ones."""
    gold = []
    for paragraph in list_of(record, "paragraphs"):
        if not isinstance(paragraph, dict) or not isinstance(text := paragraph.get("paragraph_text"), str):
            raise malformed(record, "paragraphs", "a list of {title, paragraph_text, is_supporting}")
        title = str(paragraph.get("title") or "")
        identity = pool.add(title, text)
        if paragraph.get("is_supporting"):
            gold.append(Support(doc_id=identity, title=title))
    return tuple(gold)
