"""Propose questions about an index, for a person to edit: written and checked by a language model, or found by rules.

They are asked of passages drawn at random, spread over the documents, and of pairs that share a name.
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

from ramify.evaluation._by_rules import RULES, negated
from ramify.evaluation.dataset import OPEN
from ramify.evaluation.metrics import exact_match, held_facts, token_f1
from ramify.evaluation.question_file import Proposed, QuestionFile
from ramify.graphs.run import blocking
from ramify.nodes.asking.answerer import Answerer
from ramify.nodes.asking.ask import ask, current_model
from ramify.nodes.asking.budget import Budget, working
from ramify.nodes.building.kept_replies import at_once, side_by_side
from ramify.nodes.retrieve import passage_of
from ramify.nodes.settings import Settings, is_embedded
from ramify.nodes.state import Usage
from ramify.nodes.tree import UNKNOWN, Passage, is_unknown
from ramify.prompts import ANSWER, OVERVIEW, TASKS, USERS
from ramify.prompts.prompt import copied_back
from ramify.prompts.propose import WANTED, propose
from ramify.tools.english import contains_name, find_names, fold, sentences, strip_disambiguation
from ramify.tools.errors import BudgetError, ReplyError, UsageError
from ramify.tools.index import Hit, Index
from ramify.tools.index.passage_store import document_of
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.searcher import opened

KINDS = ("fact", "two-hop", "yes-no", "how-to", "unanswerable")
OVERVIEWS = "overview"
"""The kind of open questions about all documents."""
_TRIES = 4
"""Draws for each question wanted, at most: what fails a check is dropped."""
_AGREES = 0.5
"""Token F1 from which two answers of several words agree."""
_FOUND = 5
"""Passages that must not answer an unanswerable question."""
_GENERATION = 5
"""Most users, tasks of each and questions for each, as in GraphRAG §4.1.1."""
_TITLES, _COLLECTION = 60, 3000
"""Titles, and characters, by which a collection is shown."""
NO_REPLY = "the model gave no usable reply in time"
_DEIXIS = re.compile(r"\b(?:the|this|these|given) (?:passages?|texts?|documents?|excerpts?|sections? above)\b", re.IGNORECASE)

_SHORTEST = 100
"""Characters of a passage that is asked about."""
_LETTERS = 0.65
"""Share of them that are letters in prose; tables, listings and code have fewer."""
_READ = 50
_NAMES, _NEAR = 12, 10
"""Names of a passage by which others are looked for, and passages found by each."""


class ProposalSettings(Settings):
    """Settings of a model that writes questions."""

    listed: ClassVar[str] = "those of the calls are temperature, seed, num_ctx, num_predict, passage_tokens, timeout and max_concurrency"
    passage_tokens: int = Field(default=600, ge=20, description="A passage is cut to this many tokens before it is shown.")
    thought: bool = Field(default=False, description="Ask for one short sentence of thought before a reply.")


class Draw(NamedTuple):
    """Passages to ask one question about, and the name that two of them share."""

    kind: str
    passages: tuple[Passage, ...]
    name: str = ""

    @property
    def id(self) -> str:
        """Return an id that the same kind and passages always get."""
        told = "\x1f".join((*(passage.id for passage in self.passages), self.name))
        return f"{self.kind}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"


class Proposals(NamedTuple):
    """What proposing came to."""

    made: int
    dropped: Counter[str]
    """How many questions were dropped, by the reason."""
    missing: int
    """How many of those wanted were not found."""


def kinds_of(model: str, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds of question to make, all that the model can if none is named; UsageError for one that it cannot."""
    known = tuple(RULES) if is_embedded(model) else (*KINDS, OVERVIEWS)
    for kind in wanted:
        if kind not in (*KINDS, OVERVIEWS):
            raise UsageError(f"there is no kind of question {kind!r}", f"choose among {', '.join((*KINDS, OVERVIEWS))}")
        if kind not in known:
            raise UsageError(f"questions of kind {kind!r} take a language model", "name one, such as --model ollama:llama3.1:8b")
    return tuple(dict.fromkeys(wanted)) or (tuple(RULES) if is_embedded(model) else KINDS)


def propose_questions(
    index: str, file: QuestionFile, count: int, options: Mapping[str, Any], kinds: Sequence[str] = (), progress: Progress = silent
) -> Proposals:
    """Add questions to a file until it has `count`, as many of each kind; each is written at once. Blocking.

    The same seed, model and index give the same questions. UsageError for a kind that the model cannot make.
    """
    settings = ProposalSettings.model_validate(dict(options))
    model, held = current_model(settings), opened(index)
    wanted = kinds_of(model.name, kinds)
    each, more = divmod(count, len(wanted))  # the first kinds get what is left over
    there = {kind: file.counts[OPEN if kind == OVERVIEWS else kind] for kind in wanted}
    missing = {kind: each + (number < more) - there[kind] for number, kind in enumerate(wanted)}
    dropped: Counter[str] = Counter()
    before = len(file.rows)
    if is_embedded(model.name):
        for kind, number in missing.items():
            _by_rules(held, file, kind, number, settings.seed)
    else:
        budget = Budget.open(settings, Usage(), time.time(), kept=False)
        proposer = Proposer(held, file, settings, model, budget, dropped, progress)
        blocking(proposer.propose(missing))
    made = len(file.rows) - before
    return Proposals(made, dropped, sum(max(0, number) for number in missing.values()) - made)


def _by_rules(index: Index, file: QuestionFile, kind: str, wanted: int, seed: int) -> None:
    """Add questions of a kind that rules find, one of a passage; where Yes is ahead, another's definition is asked for, for a No."""
    former: dict[str, Proposed] = {}
    for passage in prose(index, f"{seed} {kind}"):
        if wanted <= 0:
            return
        draw = Draw(kind, (passage,))
        found = next((one for one in RULES[kind](passage) if not file.has(one["question"])), None)
        if found is None or draw.id in file.ids or file.tried(draw.id):
            continue
        other = former.get(found["verb"]) if kind == "yes-no" else None
        answers = Counter(str(row.get("answer")) for row in file.rows if row.get("type") == kind)
        asked = negated(found, other) if other is not None and answers["No"] < answers["Yes"] else found
        former[found.get("verb", "")] = found
        file.note(draw.id, "kept")
        made = f"rule: {found['rule']} in {passage.id}, seed {seed}"
        file.add({**asked, "id": draw.id, "type": kind, "source": passage.source, "made_by": made})
        wanted -= 1


@dataclass(frozen=True)
class Proposer:
    """Write questions with a language model, and check them."""

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
            if kind == OVERVIEWS and wanted > 0:
                await self._overviews(wanted, total)
            elif kind == "yes-no":
                await self._of_kind("yes", (wanted + 1) // 2, total)
                await self._of_kind("no", wanted // 2, total)
            elif wanted > 0:
                await self._of_kind(kind, wanted, total)

    async def _of_kind(self, kind: str, wanted: int, total: int) -> None:
        drawn = islice(draws(self.index, kind, self.settings.seed), _TRIES * wanted + _TRIES)
        while wanted > 0 and (batch := await asyncio.to_thread(lambda most: list(islice(self._untried(drawn), most)), wanted)):
            made = await side_by_side(self._made, batch, at_once(self.settings), lambda done: None)
            for draw, question in zip(batch, made, strict=True):
                if isinstance(question, BudgetError):
                    raise question
                if isinstance(question, dict) and self.file.has(question["question"]):
                    question = "it was asked before"
                if isinstance(question, dict) and wanted > 0:
                    self.file.add(question)
                    wanted -= 1
                elif isinstance(question, str):
                    self.dropped[question] += 1
                if question != NO_REPLY:  # which another time may come
                    self.file.note(self._key(draw), question if isinstance(question, str) else "kept")
            self.progress(min(total, len(self.file.rows)), total, "questions")

    def _key(self, draw: Draw) -> str:
        return f"{draw.id} {self.model.name}"

    def _untried(self, drawn: Iterator[Draw]) -> Iterator[Draw]:
        return (draw for draw in drawn if draw.id not in self.file.ids and not self.file.tried(self._key(draw)))

    async def _made(self, draw: Draw) -> Proposed | str:
        """Return a question, or why it was dropped."""
        with working(self.settings, self.budget):
            try:
                wanted = WANTED[draw.kind].format(name=draw.name)
                said = (await ask(propose(draw.kind), draw.passages, field="", wanted=wanted)).value
                question, answer = said.question.strip(), said.answer.strip()
                quotes = [copied_back(quote) for quote in said.quotes]
                if draw.kind == "unanswerable":
                    answer, quotes = UNKNOWN, []
                why = objection(draw, question, answer, quotes) or await self._disagrees(draw, question, answer, quotes)
            except ReplyError:
                return NO_REPLY
        sources = [passage.source for passage in _quoted(draw, quotes)]
        made = f"{self.model.name} from {', '.join(passage.id for passage in draw.passages)}, seed {self.settings.seed}"
        type = "yes-no" if draw.kind in ("yes", "no") else draw.kind
        told: Proposed = {"id": draw.id, "question": question, "answer": answer, "type": type, "made_by": made}
        return why or {**told, "source": _one(sources), "quote": _one(quotes)}

    async def _disagrees(self, draw: Draw, question: str, answer: str, quotes: Sequence[str]) -> str:
        """Ask the question anew: of its quotes alone, whose answer must agree; or of the best passages found, which must not answer it.

        A two-hop question must not be answered by the second passage alone.
        """
        if draw.kind == "unanswerable":
            [hits] = await asyncio.to_thread(self.index.search, [question], _FOUND, mmr=None)
            shown = [passage_of(hit) for hit in hits]
        else:
            shown = [Passage(id=str(n), text=quote, source=f"quote {n}", score=1.0) for n, quote in enumerate(quotes, 1)]
        answered = (await ask(ANSWER, tuple(shown), question=question)).value.answer
        if draw.kind == "unanswerable":
            return "" if is_unknown(answered) else "passages found answer it"
        if not agrees(answered, answer):
            return "its quote alone gives another answer"
        if draw.kind == "two-hop" and agrees((await ask(ANSWER, draw.passages[1:], question=question)).value.answer, answer):
            return "one of its passages answers it alone"
        return ""

    async def _overviews(self, wanted: int, total: int) -> None:
        """Add open questions: for each of some users, some tasks, and for each of these some questions (GraphRAG §4.1.1)."""
        each = min(_GENERATION, ceil(wanted ** (1 / 3)))
        text = await asyncio.to_thread(collection, self.index, self.settings.seed)
        found: list[tuple[int, int, int, str, str]] = []
        with working(self.settings, self.budget):
            users = (await ask(USERS, field="", text=text)).value.users[:each]
            for place, user in enumerate(users):
                tasks = (await ask(TASKS, field="", text=text, user=user)).value.tasks[:each]
                for number, task in enumerate(tasks):
                    asked = (await ask(OVERVIEW, field="", text=text, user=user, task=task)).value.asked
                    found += [(n, number, place, question.strip(), f"{user}: {task}") for n, question in enumerate(asked)]
        for *_, question, who in sorted(found):
            if wanted > 0 and not self.file.has(question):
                told = {"id": f"open-{len(self.file.rows) + 1}", "question": question, "type": OPEN}
                self.file.add({**told, "made_by": f"{self.model.name} for {who}, seed {self.settings.seed}"})
                wanted -= 1
                self.progress(min(total, len(self.file.rows)), total, "questions")


def objection(draw: Draw, question: str, answer: str, quotes: Sequence[str]) -> str:
    """Return what is wrong with a question as far as a program can tell; empty if nothing."""
    if not question:
        return "the passages have nothing of the kind"
    if not question.endswith(("?", "？")) or _DEIXIS.search(question):
        return "it is no question that can be understood alone"
    if draw.kind == "unanswerable":
        return ""
    if not answer or is_unknown(answer):
        return "it has no answer"
    if draw.kind in ("yes", "no") and fold(answer) != draw.kind:
        return f"its answer is not {draw.kind.capitalize()}"
    if draw.kind not in ("yes", "no") and contains_name(question, answer):
        return "it gives its answer away"
    having = _quoted(draw, quotes)
    if not quotes or len(having) < len(quotes):
        return "a quote is not in the passage"
    if draw.kind == "two-hop" and {passage.id for passage in having} != {passage.id for passage in draw.passages}:
        return "it does not quote both passages"
    return "it names what it should describe" if draw.kind == "two-hop" and contains_name(question, draw.name) else ""


def _quoted(draw: Draw, quotes: Sequence[str]) -> list[Passage]:
    """Return the passage that each quote is from; a quote that is in none is left out."""
    found = [next((one for one in draw.passages if quote and held_facts(one.text, [quote])), None) for quote in quotes]
    return [passage for passage in found if passage is not None]


def _one(listed: Sequence[str]) -> str | list[str]:
    return listed[0] if len(listed) == 1 else list(listed)


def agrees(answer: str, gold: str) -> bool:
    """Return whether two answers agree: the same, or for answers of several words about the same words."""
    return bool(exact_match(answer, [gold])) or token_f1(answer, [gold]) >= _AGREES


def collection(index: Index, seed: int) -> str:
    """Return what an index is about: its description, and titles of some documents. Blocking."""
    passages = index.get_by_ids(spread(index.ids(), f"{seed} titles")[:_TITLES])
    titles = dict.fromkeys(str(one.metadata.get("title") or one.metadata.get("source") or "") for one in passages)
    return "\n".join(filter(None, (index.manifest.description, *titles)))[:_COLLECTION]


def spread(ids: Sequence[str], seed: str) -> list[str]:
    """Return ids in random order, first one of each document, then a second of each, and so on; a file of pages is a document."""
    seen: Counter[str] = Counter()
    rounds = []
    for id in random.Random(seed).sample(ids, len(ids)):
        file = document_of(id).partition("#")[0]
        rounds.append((seen[file], id))
        seen[file] += 1
    return [id for _, id in sorted(rounds, key=lambda one: one[0])]


def draws(index: Index, kind: str, seed: int) -> Iterator[Draw]:
    """Yield what to ask about; the same seed gives the same. Blocking."""
    for passage in prose(index, f"{seed} {kind}"):
        if kind != "two-hop":
            yield Draw(kind, (passage,))
        elif pair := linked(index, passage):
            yield pair


def prose(index: Index, seed: str) -> Iterator[Passage]:
    """Yield the passages that are prose and not too short, spread over the documents. Blocking."""
    order = spread(index.ids(), seed)
    for start in range(0, len(order), _READ):
        for document in index.get_by_ids(order[start : start + _READ]):
            text = document.page_content
            if len(text) >= _SHORTEST and sum(map(str.isalpha, text)) >= _LETTERS * len(text):
                yield passage_of(Hit(document, 1.0, 1.0))


def linked(index: Index, passage: Passage) -> Draw | None:
    """Return the passage with one of another document that tells of a name in it: one titled so, else of the rarest name; None if none."""
    own = fold(strip_disambiguation(passage.title))
    found = [name for sentence in sentences(passage.text) for name in find_names(sentence)]
    names = [name for name in dict.fromkeys(found) if len(name) > 2 and fold(name) not in own][:_NAMES]
    ranked = []
    for place, (name, hits) in enumerate(zip(names, index.search(names, _NEAR, mmr=None) if names else [], strict=True)):
        others = [
            one for hit in hits if (one := passage_of(hit)).source != passage.source and contains_name(f"{one.title} {one.text}", name)
        ]
        for other in others[:1]:
            best = next((one for one in others if fold(strip_disambiguation(one.title)) == fold(name)), other)
            titled = fold(strip_disambiguation(best.title)) == fold(name)
            ranked.append((not titled, len(others), place, Draw("two-hop", (passage, best), name)))
    return min(ranked, key=lambda one: one[:3])[3] if ranked else None
