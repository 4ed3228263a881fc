"""Load the original releases of HotpotQA, 2WikiMultihopQA, MuSiQue and MultiHop-RAG.

HotpotQA (Yang et al. 2018), distractor or full-wiki, and 2WikiMultihopQA (Ho et al. 2020) have one format; the latter adds `evidences`.
As released, `context` is `[[title, [sentence, …]], …]` and `supporting_facts` is `[[title, sentence number], …]`. Later releases give them
as columns (`{"title": […], "sentences": […]}`), or either as JSON within a string.
MuSiQue (Trivedi et al. 2022) has twenty paragraphs per question, aliases of the answer and a decomposition.
MultiHop-RAG (Tang & Yang 2024) has questions with their facts in `MultiHopRAG.json`, and news articles in `corpus.json` beside it.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

from ramify.lab.dataset import Dataset, Question, ReadQuestion, Support, make_dataset
from ramify.lab.load.records import Record, malformed_field_error, optional_list, read_records, required_answer, required_text
from ramify.tools.errors import InputError
from ramify.tools.new_files import file_mode, make_folder, write_atomically

ALIASES_FILE = "id_aliases.json"
CONTEXT_FORMAT = "a list of [title, [sentence, …]]"
FACTS_FORMAT = "a list of [title, sentence number]"


class PoolParagraph(NamedTuple):
    """The id and the sentences of a paragraph in the pool."""

    id: str
    sentences: list[str]


QuestionContext = dict[str, PoolParagraph]
"""A question's own paragraphs by their titles."""


class ParagraphPool:
    """Distinct paragraphs of all questions; ids are hashes of title and text, so they do not depend on the release."""

    def __init__(self, prefix: str) -> None:
        self.absent: set[str] = set()
        """Ids of gold paragraphs that are not among the paragraphs of any question."""
        self._prefix = prefix
        self._paragraphs: dict[str, dict[str, Any]] = {}
        self._ids_by_title: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._paragraphs)

    def add(self, title: str, text: str, **more: Any) -> str:
        """Add a paragraph and return its id."""
        identity = self._id(title, text)
        if text.strip():
            self._paragraphs.setdefault(identity, {"id": identity, "title": title, "text": text, **more})
            self._ids_by_title.setdefault(title, identity)
        return identity

    def id_of_title(self, title: str) -> str:
        """Return the id of a paragraph by its title; a missing one gets an id as well and counts as not retrieved."""
        if title in self._ids_by_title:
            return self._ids_by_title[title]
        self.absent.add(absent := self._id(title, ""))
        return absent

    def write(self, work: Path, name: str) -> Path:
        """Write the corpus below a folder, atomically."""
        content = "".join(json.dumps(paragraph, ensure_ascii=False) + "\n" for paragraph in self._paragraphs.values())
        # The hash distinguishes releases whose files have the same name.
        file = work / f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:8]}" / "corpus.jsonl"
        make_folder(file.parent)
        write_atomically(content, file, file_mode(file.parent))
        return file

    def caveats(self, golds: int) -> list[str]:
        """Return the caveats of the pool; `golds` is the number of distinct gold paragraphs."""
        messages = [f"The corpus is the {len(self)} paragraphs that came with the questions, not all of Wikipedia: searching it is easier."]
        if self.absent:
            messages.append(f"Gold paragraphs that came with no question: {len(self.absent)} of {golds}. They count as missed.")
        return messages

    def _id(self, title: str, text: str) -> str:
        content = f"{title}\0{text}"
        return f"{self._prefix}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def release_name(release: str, file: Path) -> str:
    """Return the name of a data set: its file's, prefixed with the release unless the file names it."""
    stem = file.name.split(".json")[0]
    return stem if release[:5].lower() in stem.lower() else f"{release}-{stem}"


def load_hotpot(file: Path, records: list[Record], work: Path) -> Dataset:
    """Load the questions of a file; the corpus is all their paragraphs."""
    two_wiki = any("evidences" in record.value for record in records)
    pool = ParagraphPool("2wk" if two_wiki else "hpq")
    contexts = [_read_context(record, pool) for record in records]
    aliases: dict[str, list[str]] = {}
    """The aliases of answers by their `answer_id`."""
    if (alias_file := file.with_name(ALIASES_FILE)).is_file():
        values = [record.value for record in read_records(alias_file)]
        aliases = {str(value.get("Q_id")): [*value.get("aliases", ()), *value.get("demonyms", ())] for value in values}
    read = [
        ReadQuestion(record.place, _hotpot_question(record, _hotpot_supporting(record, context, pool), aliases))
        for record, context in zip(records, contexts, strict=True)
    ]
    name = release_name("2wikimultihopqa" if two_wiki else "hotpotqa", file)
    golds = {identity for _, question in read for identity in question.gold_documents}
    return make_dataset(name, read, pool.write(work, name), caveats=pool.caveats(len(golds)), absent_golds=pool.absent)


def _hotpot_question(record: Record, supporting: tuple[Support, ...], aliases: dict[str, list[str]]) -> Question:
    value = record.value
    metadata = {key: value[key] for key in ("level", "evidences", "answer_id") if value.get(key)}
    return Question(
        id=required_text(record, "_id" if "_id" in value else "id"),
        question=required_text(record, "question"),
        answer=required_answer(record),
        aliases=tuple(aliases.get(str(value.get("answer_id")), ())),
        type=str(value.get("type") or ""),
        supporting=supporting,
        metadata=metadata,
    )


def _read_context(record: Record, pool: ParagraphPool) -> QuestionContext:
    """Add a question's paragraphs to the pool; in full-wiki files a gold paragraph may come with another question."""
    context: QuestionContext = {}
    for title, sentences in _read_pairs(record, "context", CONTEXT_FORMAT, "title", "sentences", "content"):
        if not isinstance(sentences, list):
            raise malformed_field_error(record, "context", CONTEXT_FORMAT)
        stripped = [str(sentence).strip() for sentence in sentences]
        context.setdefault(str(title), PoolParagraph(pool.add(str(title), " ".join(filter(None, stripped))), stripped))
    return context


def _hotpot_supporting(record: Record, context: QuestionContext, pool: ParagraphPool) -> tuple[Support, ...]:
    numbers: dict[str, list[Any]] = {}
    for title, number in _read_pairs(record, "supporting_facts", FACTS_FORMAT, "title", "sent_id"):
        numbers.setdefault(str(title), []).append(number)
    paragraphs = {title: context.get(title) or PoolParagraph(pool.id_of_title(title), []) for title in numbers}
    supports = []
    for title, (identity, sentences) in paragraphs.items():  # the release has sentence numbers out of range
        facts = [sentences[number] for number in numbers[title] if isinstance(number, int) and 0 <= number < len(sentences)]
        supports.append(Support(doc_id=identity, title=title, facts=tuple(facts)))
    return tuple(supports)


def _read_pairs(record: Record, field: str, shape: str, *columns: str) -> list[tuple[Any, Any]]:
    """Return a list of pairs, from any of the formats of the releases."""
    value = record.value.get(field)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise malformed_field_error(record, field, shape) from error
    if isinstance(value, dict):
        first, second = (value.get(columns[0]), next((value[name] for name in columns[1:] if name in value), None))
        value = list(zip(first, second, strict=False)) if isinstance(first, list) and isinstance(second, list) else None
    if not isinstance(value, list) or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in value):
        raise malformed_field_error(record, field, shape)
    return [(first, second) for first, second in value]


def load_musique(file: Path, records: list[Record], work: Path) -> Dataset:
    """Load the questions of a file; the corpus is all their paragraphs."""
    pool = ParagraphPool("msq")
    supporting = [_musique_supporting(record, pool) for record in records]
    answerable = [(record, gold) for record, gold in zip(records, supporting, strict=True) if record.value.get("answerable", True)]
    if not answerable:
        raise InputError(f"{str(file)!r} marks every question as unanswerable", "give a file with answerable ones")
    read = [ReadQuestion(record.place, _musique_question(record, gold)) for record, gold in answerable]
    name = release_name("musique", file)
    golds = {identity for _, question in read for identity in question.gold_documents}
    caveats = pool.caveats(len(golds))
    # MuSiQue-Full has each question twice under one id, once without its gold paragraph, which is in the pool nevertheless.
    if left_out := len(records) - len(read):
        message = (
            f"Questions marked unanswerable are left out ({left_out}): what their own paragraphs lack, the pool of all paragraphs holds."
        )
        caveats.append(message)
    return make_dataset(name, read, pool.write(work, name), caveats=caveats)


def _musique_question(record: Record, supporting: tuple[Support, ...]) -> Question:
    identity = required_text(record, "id")
    decomposition = optional_list(record, "question_decomposition")
    return Question(
        id=identity,
        question=required_text(record, "question"),
        answer=required_answer(record),
        aliases=tuple(map(str, optional_list(record, "answer_aliases"))),
        type=identity.split("__")[0] if "__" in identity else "",
        supporting=supporting,
        metadata={"decomposition": decomposition} if decomposition else {},
    )


def _musique_supporting(record: Record, pool: ParagraphPool) -> tuple[Support, ...]:
    """Add all paragraphs to the pool and return the gold ones."""
    gold = []
    for paragraph in optional_list(record, "paragraphs"):
        if not isinstance(paragraph, dict) or not isinstance(text := paragraph.get("paragraph_text"), str):
            raise malformed_field_error(record, "paragraphs", "a list of {title, paragraph_text, is_supporting}")
        title = str(paragraph.get("title") or "")
        identity = pool.add(title, text)
        if paragraph.get("is_supporting"):
            gold.append(Support(doc_id=identity, title=title))
    return tuple(gold)


MULTIHOP_RAG = "multihop_rag"
ARTICLE_FILES = ("corpus.json", "corpus.jsonl")
ARTICLE_FIELDS = ("source", "published_at", "author", "category", "url")


def load_multihop_rag(file: Path, records: list[Record], work: Path) -> Dataset:
    """Load the questions of a file; the corpus is the articles beside it."""
    articles = next((file.with_name(name) for name in ARTICLE_FILES if file.with_name(name).is_file()), None)
    if articles is None:
        raise InputError(f"there is no corpus beside {str(file)!r}", "put the corpus.json of the same release there")
    pool = ParagraphPool("mhr")
    for article in read_records(articles):
        pool.add(
            required_text(article, "title"),
            required_text(article, "body"),
            **{key: article.value[key] for key in ARTICLE_FIELDS if article.value.get(key)},
        )
    read = []
    for number, record in enumerate(records, 1):
        question = Question(
            id=f"mhr-q{number:04}",  # the release has no ids but the order
            question=required_text(record, "query"),
            answer=required_answer(record),
            type=str(record.value.get("question_type") or ""),
            supporting=_multihop_supporting(record, pool),
        )
        read.append(ReadQuestion(record.place, question))
    return make_dataset(MULTIHOP_RAG, read, pool.write(work, MULTIHOP_RAG), hits_by="fact")


def _multihop_supporting(record: Record, pool: ParagraphPool) -> tuple[Support, ...]:
    facts: dict[str, list[str]] = {}
    for evidence in optional_list(record, "evidence_list"):
        if not isinstance(evidence, dict) or not evidence.get("title") or not evidence.get("fact"):
            raise malformed_field_error(record, "evidence_list", "a list of {title, fact}")
        facts.setdefault(str(evidence["title"]).strip(), []).append(str(evidence["fact"]))
    articles = {title: pool.id_of_title(title) for title in facts}
    for title, identity in articles.items():
        if identity in pool.absent:
            what = f"{record.place} rests on {title!r}, which is not in the corpus beside it"
            raise InputError(what, "give the corpus.json of the same release")
    return tuple(Support(doc_id=articles[title], title=title, facts=tuple(sentences)) for title, sentences in facts.items())
