"""Propose questions about an index, for editing by a person: generated and checked by a language model, or found by rules.

The passages are drawn at random, spread over the documents; two-hop questions use pairs of passages that share a name.
"""

import asyncio
import hashlib
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil
from typing import Any, ClassVar, NamedTuple

from pydantic import Field

from ramify.graphs.run import blocking
from ramify.kinds.asking.reply_cache import max_parallel_calls, run_concurrently
from ramify.lab.dataset import OPEN_TYPE
from ramify.lab.metrics import contained_facts, exact_match, token_f1
from ramify.lab.prompts.propose import KIND_INSTRUCTIONS, propose_prompt
from ramify.lab.question_file import ProposedQuestion, QuestionFile
from ramify.nodes.asking.answerer import Answerer
from ramify.nodes.asking.ask import ask, current_model
from ramify.nodes.asking.budget import Budget, call_context
from ramify.nodes.settings import Settings, is_embedded
from ramify.nodes.state import Usage
from ramify.nodes.tree import UNKNOWN, Passage, is_unknown
from ramify.prompts import ANSWER, OVERVIEW, TASKS, USERS
from ramify.prompts.prompt import unescape
from ramify.tools.english import find_names, fold, sentences, strip_disambiguation
from ramify.tools.errors import BudgetError, ReplyError, UsageError
from ramify.tools.index import Index
from ramify.tools.index.index import iterate_passages
from ramify.tools.index.passage_store import document_id
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.names import contains_name
from ramify.tools.questions_by_rules import RULES, negate_question
from ramify.tools.search.searcher import open_index, require_finished

QUESTION_KINDS = ("fact", "two-hop", "yes-no", "how-to", "unanswerable")
OVERVIEW_KIND = "overview"
"""The kind of open questions about the whole collection."""
_MAX_DRAWS_PER_QUESTION = 4
"""Maximum number of draws per requested question; questions that fail a check are dropped."""
_MIN_AGREEMENT_F1 = 0.5
"""Minimum token F1 at which two answers agree."""
_CHECKED_PASSAGES = 5
"""Number of retrieved passages that must not answer an unanswerable question."""
_MAX_PER_STEP = 5
"""Maximum number of users, of tasks per user and of questions per task, as in GraphRAG §4.1.1."""
_MAX_TITLES, _MAX_DESCRIPTION_CHARS = 60, 3000
"""Maximum number of titles, and of characters, in the description of a collection."""
NO_REPLY = "the model gave no usable reply in time"
_PASSAGE_REFERENCE = re.compile(r"\b(?:the|this|these|given) (?:passages?|texts?|documents?|excerpts?|sections? above)\b", re.IGNORECASE)

_MIN_PASSAGE_CHARS = 100
"""Minimum length of a passage that questions are asked about."""
_MIN_LETTER_SHARE = 0.65
"""Minimum share of letters in prose; tables, listings and code have fewer."""
_MAX_NAMES, _PASSAGES_PER_NAME = 12, 10
"""Maximum number of names of a passage that are searched for, and number of passages retrieved for each."""


class ProposalSettings(Settings):
    """Settings of the model that generates questions."""

    listed: ClassVar[str] = "those of the calls are temperature, seed, num_ctx, num_predict, passage_tokens, timeout and max_concurrency"
    passage_tokens: int = Field(default=600, ge=20, description="Passages are truncated to this many tokens.")
    thought: bool = Field(default=False, description="Ask for a short sentence of reasoning before each reply.")


class PassageSample(NamedTuple):
    """Passages to ask a question about, and the name that they share if there are two."""

    kind: str
    passages: tuple[Passage, ...]
    name: str = ""

    @property
    def id(self) -> str:
        """Return an id that depends only on kind, passages and name."""
        parts = "\x1f".join((*(passage.id for passage in self.passages), self.name))
        return f"{self.kind}-{hashlib.sha256(parts.encode()).hexdigest()[:8]}"


class Proposals(NamedTuple):
    """Result of `propose_questions`."""

    added: int
    dropped: Counter[str]
    """Number of dropped questions by reason."""
    missing: int
    """Number of requested questions that were not found."""


def select_kinds(model: str, requested: Sequence[str]) -> tuple[str, ...]:
    """Return the requested kinds of question, or the default kinds of the model; UsageError for an unknown or unsupported kind."""
    possible = tuple(RULES) if is_embedded(model) else (*QUESTION_KINDS, OVERVIEW_KIND)
    for kind in requested:
        if kind not in (*QUESTION_KINDS, OVERVIEW_KIND):
            raise UsageError(f"there is no kind of question {kind!r}", f"choose among {', '.join((*QUESTION_KINDS, OVERVIEW_KIND))}")
        if kind not in possible:
            raise UsageError(f"questions of kind {kind!r} require a language model", "name one, such as --model ollama:llama3.1:8b")
    return tuple(dict.fromkeys(requested)) or (tuple(RULES) if is_embedded(model) else QUESTION_KINDS)


def propose_questions(
    index: str, file: QuestionFile, count: int, options: Mapping[str, Any], kinds: Sequence[str] = (), progress: Progress = ignore_progress
) -> Proposals:
    """Add questions to a file until it has `count`, equally many of each kind; each is written immediately. Blocking.

    The same seed, model and index give the same questions. UsageError for a kind that the model cannot generate.
    """
    settings = ProposalSettings.model_validate(dict(options))
    require_finished(index)
    model, opened_index = current_model(settings), open_index(index)
    requested = select_kinds(model.name, kinds)
    each, more = divmod(count, len(requested))  # the first kinds get the remainder
    existing = {kind: file.counts[OPEN_TYPE if kind == OVERVIEW_KIND else kind] for kind in requested}
    missing = {kind: each + (number < more) - existing[kind] for number, kind in enumerate(requested)}
    dropped: Counter[str] = Counter()
    before = len(file.rows)
    if is_embedded(model.name):
        for kind, number in missing.items():
            _propose_by_rules(opened_index, file, kind, number, settings.seed)
    else:
        budget = Budget.open(settings, Usage(), time.time(), reserves_final_call=False)
        proposer = Proposer(opened_index, file, settings, model, budget, dropped, progress)
        blocking(proposer.propose(missing))
    added = len(file.rows) - before
    return Proposals(added, dropped, sum(max(0, number) for number in missing.values()) - added)


def _propose_by_rules(index: Index, file: QuestionFile, kind: str, missing: int, seed: int) -> None:
    """Add questions of a kind found by rules, one per passage; yes/no questions use other definitions for the answer No."""
    former: dict[str, ProposedQuestion] = {}
    for passage in iter_prose_passages(index, f"{seed} {kind}"):
        if missing <= 0:
            return
        sample = PassageSample(kind, (passage,))
        question = next((candidate for candidate in RULES[kind](passage) if not file.contains(candidate["question"])), None)
        if question is None or sample.id in file.ids or file.was_tried(sample.id):
            continue
        other = former.get(question["verb"]) if kind == "yes-no" else None
        answers = Counter(str(row.get("answer")) for row in file.rows if row.get("type") == kind)
        added = negate_question(question, other) if other is not None and answers["No"] < answers["Yes"] else question
        former[question.get("verb", "")] = question
        file.record_outcome(sample.id, "kept")
        made_by = f"rule: {question['rule']} in {passage.id}, seed {seed}"
        file.add({**added, "id": sample.id, "type": kind, "source": passage.source, "made_by": made_by})
        missing -= 1


@dataclass(frozen=True)
class Proposer:
    """Generates questions with a language model and checks them."""

    index: Index
    file: QuestionFile
    settings: ProposalSettings
    model: Answerer
    budget: Budget
    dropped: Counter[str]
    progress: Progress

    async def propose(self, missing: Mapping[str, int]) -> None:
        """Add as many questions of each kind as are missing."""
        total = sum(max(0, wanted) for wanted in missing.values())
        for kind, wanted in missing.items():
            if kind == OVERVIEW_KIND and wanted > 0:
                await self._propose_overviews(wanted, total)
            elif kind == "yes-no":
                await self._propose_kind("yes", (wanted + 1) // 2, total)
                await self._propose_kind("no", wanted // 2, total)
            elif wanted > 0:
                await self._propose_kind(kind, wanted, total)

    async def _propose_kind(self, kind: str, wanted: int, total: int) -> None:
        samples = islice(sample_passages(self.index, kind, self.settings.seed), _MAX_DRAWS_PER_QUESTION * wanted + _MAX_DRAWS_PER_QUESTION)
        while wanted > 0 and (batch := await asyncio.to_thread(lambda most: list(islice(self._untried(samples), most)), wanted)):
            results = await run_concurrently(self._propose_one, batch, max_parallel_calls(self.settings), lambda done: None)
            for sample, question in zip(batch, results, strict=True):
                if isinstance(question, BudgetError):
                    raise question
                if isinstance(question, dict) and self.file.contains(question["question"]):
                    question = "a duplicate of another question"
                if isinstance(question, dict) and wanted > 0:
                    self.file.add(question)
                    wanted -= 1
                elif isinstance(question, str):
                    self.dropped[question] += 1
                if question != NO_REPLY:  # which may succeed another time
                    self.file.record_outcome(self._key(sample), question if isinstance(question, str) else "kept")
            self.progress(min(total, len(self.file.rows)), total, "questions")

    def _key(self, sample: PassageSample) -> str:
        return f"{sample.id} {self.model.name}"

    def _untried(self, samples: Iterator[PassageSample]) -> Iterator[PassageSample]:
        return (sample for sample in samples if sample.id not in self.file.ids and not self.file.was_tried(self._key(sample)))

    async def _propose_one(self, sample: PassageSample) -> ProposedQuestion | str:
        """Return a question, or the reason why it was dropped."""
        with call_context(self.settings, self.budget):
            try:
                wanted = KIND_INSTRUCTIONS[sample.kind].format(name=sample.name)
                reply = (await ask(propose_prompt(sample.kind), sample.passages, field="", wanted=wanted)).value
                question, answer = reply.question.strip(), reply.answer.strip()
                quotes = [unescape(quote) for quote in reply.quotes]
                if sample.kind == "unanswerable":
                    answer, quotes = UNKNOWN, []
                problem = find_problem(sample, question, answer, quotes) or await self._find_disagreement(sample, question, answer, quotes)
            except ReplyError:
                return NO_REPLY
        sources = [passage.source for passage in _quoted_passages(sample, quotes)]
        made_by = f"{self.model.name} from {', '.join(passage.id for passage in sample.passages)}, seed {self.settings.seed}"
        type = "yes-no" if sample.kind in ("yes", "no") else sample.kind
        fields: ProposedQuestion = {"id": sample.id, "question": question, "answer": answer, "type": type, "made_by": made_by}
        return problem or {**fields, "source": _unwrap_single(sources), "quote": _unwrap_single(quotes)}

    async def _find_disagreement(self, sample: PassageSample, question: str, answer: str, quotes: Sequence[str]) -> str:
        """Answer the question again and return why the result disagrees; empty if it agrees.

        The answer from its quotes must agree with the gold. Retrieved passages must not answer an unanswerable question, and the second
        passage alone must not answer a two-hop question.
        """
        if sample.kind == "unanswerable":
            [passages] = await asyncio.to_thread(self.index.search, [question], _CHECKED_PASSAGES, mmr=None)
        else:
            passages = [Passage(id=str(n), text=quote, source=f"quote {n}", score=1.0) for n, quote in enumerate(quotes, 1)]
        answered = (await ask(ANSWER, tuple(passages), question=question)).value.answer
        if sample.kind == "unanswerable":
            return "" if is_unknown(answered) else "passages found answer it"
        if not answers_agree(answered, answer):
            return "its quote alone gives another answer"
        if sample.kind == "two-hop" and answers_agree((await ask(ANSWER, sample.passages[1:], question=question)).value.answer, answer):
            return "one of its passages answers it alone"
        return ""

    async def _propose_overviews(self, wanted: int, total: int) -> None:
        """Add open questions: tasks for each of several users, and questions for each task (GraphRAG §4.1.1)."""
        each = min(_MAX_PER_STEP, ceil(wanted ** (1 / 3)))
        text = await asyncio.to_thread(describe_collection, self.index, self.settings.seed)
        ordered: list[tuple[int, int, int, str, str]] = []
        with call_context(self.settings, self.budget):
            users = (await ask(USERS, field="", text=text)).value.users[:each]
            for place, user in enumerate(users):
                tasks = (await ask(TASKS, field="", text=text, user=user)).value.tasks[:each]
                for number, task in enumerate(tasks):
                    questions = (await ask(OVERVIEW, field="", text=text, user=user, task=task)).value.asked
                    ordered += [(n, number, place, question.strip(), f"{user}: {task}") for n, question in enumerate(questions)]
        for *_, question, who in sorted(ordered):
            if wanted > 0 and not self.file.contains(question):
                fields = {"id": f"open-{len(self.file.rows) + 1}", "question": question, "type": OPEN_TYPE}
                self.file.add({**fields, "made_by": f"{self.model.name} for {who}, seed {self.settings.seed}"})
                wanted -= 1
                self.progress(min(total, len(self.file.rows)), total, "questions")


def find_problem(sample: PassageSample, question: str, answer: str, quotes: Sequence[str]) -> str:
    """Return the first problem of a question that a program can detect; empty if there is none."""
    if not question:
        return "the passages have nothing of the kind"
    if not question.endswith(("?", "？")) or _PASSAGE_REFERENCE.search(question):
        return "it cannot be understood without the passage"
    if sample.kind == "unanswerable":
        return ""
    if not answer or is_unknown(answer):
        return "it has no answer"
    if sample.kind in ("yes", "no") and fold(answer) != sample.kind:
        return f"its answer is not {sample.kind.capitalize()}"
    if sample.kind not in ("yes", "no") and contains_name(question, answer):
        return "it gives its answer away"
    quoted = _quoted_passages(sample, quotes)
    if not quotes or len(quoted) < len(quotes):
        return "a quote is not in the passage"
    if sample.kind == "two-hop" and {passage.id for passage in quoted} != {passage.id for passage in sample.passages}:
        return "it does not quote both passages"
    return "it names what it should describe" if sample.kind == "two-hop" and contains_name(question, sample.name) else ""


def _quoted_passages(sample: PassageSample, quotes: Sequence[str]) -> list[Passage]:
    """Return the passage of each quote; quotes that are in no passage are left out."""
    passages = [
        next((passage for passage in sample.passages if quote and contained_facts(passage.text, [quote])), None) for quote in quotes
    ]
    return [passage for passage in passages if passage is not None]


def _unwrap_single(values: Sequence[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else list(values)


def answers_agree(answer: str, gold: str) -> bool:
    """Return whether two answers agree: an exact match, or a token F1 of at least 0.5."""
    return bool(exact_match(answer, [gold])) or token_f1(answer, [gold]) >= _MIN_AGREEMENT_F1


def describe_collection(index: Index, seed: int) -> str:
    """Return a description of an index for the model: its own description, and titles of some documents. Blocking."""
    passages = index.get_by_ids(shuffle_by_document(index.ids(), f"{seed} titles")[:_MAX_TITLES])
    titles = dict.fromkeys(str(passage.metadata.get("title") or passage.metadata.get("source") or "") for passage in passages)
    return "\n".join(filter(None, (index.manifest.description, *titles)))[:_MAX_DESCRIPTION_CHARS]


def shuffle_by_document(ids: Sequence[str], seed: str) -> list[str]:
    """Return ids in random order, interleaved by document: one passage of each, then a second of each; a file's pages are one document."""
    seen: Counter[str] = Counter()
    rounds = []
    for id in random.Random(seed).sample(ids, len(ids)):
        file = document_id(id).partition("#")[0]
        rounds.append((seen[file], id))
        seen[file] += 1
    return [id for _, id in sorted(rounds, key=lambda item: item[0])]


def sample_passages(index: Index, kind: str, seed: int) -> Iterator[PassageSample]:
    """Yield samples of passages to ask about; the same seed gives the same samples. Blocking."""
    for passage in iter_prose_passages(index, f"{seed} {kind}"):
        if kind != "two-hop":
            yield PassageSample(kind, (passage,))
        elif pair := find_linked_pair(index, passage):
            yield pair


def iter_prose_passages(index: Index, seed: str) -> Iterator[Passage]:
    """Yield the passages of prose that are long enough, interleaved by document. Blocking."""
    order = shuffle_by_document(index.ids(), seed)
    for passage in iterate_passages(index, order):
        if len(passage.text) >= _MIN_PASSAGE_CHARS and sum(map(str.isalpha, passage.text)) >= _MIN_LETTER_SHARE * len(passage.text):
            yield passage.model_copy(update={"score": 1.0, "value": 1.0})


def find_linked_pair(index: Index, passage: Passage) -> PassageSample | None:
    """Return the passage with one of another document about a name in it, preferably titled with it, else the rarest one; else None."""
    own_title = fold(strip_disambiguation(passage.title))
    mentioned = [name for sentence in sentences(passage.text) for name in find_names(sentence)]
    names = [name for name in dict.fromkeys(mentioned) if len(name) > 2 and fold(name) not in own_title][:_MAX_NAMES]
    ranked = []
    for place, (name, hits) in enumerate(zip(names, index.search(names, _PASSAGES_PER_NAME, mmr=None) if names else [], strict=True)):
        others = [hit for hit in hits if hit.source != passage.source and contains_name(f"{hit.title} {hit.text}", name)]
        for other in others[:1]:
            best = next((hit for hit in others if fold(strip_disambiguation(hit.title)) == fold(name)), other)
            titled = fold(strip_disambiguation(best.title)) == fold(name)
            ranked.append((not titled, len(others), place, PassageSample("two-hop", (passage, best), name)))
    return min(ranked, key=lambda candidate: candidate[:3])[3] if ranked else None
