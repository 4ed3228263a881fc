"""MultiHop-RAG (Tang & Yang 2024): `MultiHopRAG.json`, questions with the facts they rest on, beside `corpus.json`, news articles."""

from pathlib import Path

from ramify.evaluation.dataset import Dataset, Question, Support
from ramify.evaluation.load.assemble import Read, answer_of, assemble, list_of, text_of
from ramify.evaluation.load.pool import Pool, malformed
from ramify.evaluation.load.records import Record, read_records
from ramify.tools.errors import InputError

NAME = "multihop_rag"
CORPUS = ("corpus.json", "corpus.jsonl")
ABOUT = ("source", "published_at", "author", "category", "url")


def load_multihop_rag(file: Path, records: list[Record], work: Path) -> Dataset:
    """Load the questions of a file, with the articles beside it as the corpus."""
    articles = next((file.with_name(name) for name in CORPUS if file.with_name(name).is_file()), None)
    if articles is None:
        raise InputError(f"there is no corpus beside {str(file)!r}", "put the corpus.json of the same release there")
    pool = Pool("mhr")
    for article in read_records(articles):
        pool.add(
            text_of(article, "title"), text_of(article, "body"), **{key: article.value[key] for key in ABOUT if article.value.get(key)}
        )
    read = [Read(record.place, _question(record, number, pool)) for number, record in enumerate(records, 1)]
    return assemble(NAME, read, pool.write(work, NAME), hits_by="fact")


def _question(record: Record, number: int, pool: Pool) -> Question:
    return Question(
        id=f"mhr-q{number:04}",  # the release has no ids but the order
        question=text_of(record, "query"),
        answer=answer_of(record),
        type=str(record.value.get("question_type") or ""),
        supporting=_supporting(record, pool),
    )


def _supporting(record: Record, pool: Pool) -> tuple[Support, ...]:
    facts: dict[str, list[str]] = {}
    for evidence in list_of(record, "evidence_list"):
        if not isinstance(evidence, dict) or not evidence.get("title") or not evidence.get("fact"):
            raise malformed(record, "evidence_list", "a list of {title, fact}")
        facts.setdefault(str(evidence["title"]).strip(), []).append(str(evidence["fact"]))
    articles = {title: pool.titled(title) for title in facts}
    for title, identity in articles.items():
        if identity in pool.absent:
            what = f"{record.place} rests on {title!r}, which is not in the corpus beside it"
            raise InputError(what, "give the corpus.json of the same release")
    return tuple(Support(doc_id=articles[title], title=title, facts=tuple(said)) for title, said in facts.items())
