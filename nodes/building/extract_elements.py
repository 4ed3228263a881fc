"""Find names and what connects them with a language model (GraphRAG §1): extraction, gleaning, claims; a text that fails is halved."""

import re
from collections.abc import Callable, Sequence

from ramify.nodes.building.kept_replies import KeptModel, at_once, side_by_side
from ramify.nodes.settings import BuildSettings
from ramify.prompts import CLAIMS, EXTRACT, GLEAN, Extracted
from ramify.prompts.claims import LINE_TOKENS
from ramify.prompts.extract import BAR, lines_for, with_lines
from ramify.tools.english import fold
from ramify.tools.errors import BudgetError, ReplyError
from ramify.tools.knowledge.build import BUDGET_EXHAUSTED
from ramify.tools.knowledge.elements import Claim, Elements, Link, Mention, TextUnit, make_link, split_unit
from ramify.tools.knowledge.rule_builder import MAX_NAME_CHARS, links_in_sentences

_HALVED = 2
_STRONGEST = 10.0


async def extract_elements(
    units: Sequence[TextUnit], model: KeptModel[BuildSettings], on_done: Callable[[int], None]
) -> tuple[list[Elements], dict[str, str]]:
    """Read units side by side; give what was found, and why units could not be read, by the id of their first passage."""

    async def read(unit: TextUnit) -> tuple[list[Elements], str]:
        return await _halving(unit, model, _HALVED)

    results = await side_by_side(read, units, at_once(model.settings), on_done)
    found: list[Elements] = []
    unread: dict[str, str] = {}
    for unit, result in zip(units, results, strict=True):
        if isinstance(result, BudgetError):
            unread[unit.pieces[0].id] = BUDGET_EXHAUSTED
            continue
        elements, failure = result
        found += elements
        if failure:
            unread[unit.pieces[0].id] = failure
    return found, unread


async def _halving(unit: TextUnit, model: KeptModel[BuildSettings], left: int) -> tuple[list[Elements], str]:
    """Read a unit; where no usable reply comes, each half of it, so often as is left."""
    try:
        return [await _read(unit, model)], ""
    except ReplyError as error:
        parts = split_unit(unit) if left else ()
        if len(parts) < 2:
            return [], error.what
    read = [await _halving(part, model, left - 1) for part in parts]
    return [elements for found, _ in read for elements in found], next((failure for _, failure in read if failure), "")


async def _read(unit: TextUnit, model: KeptModel[BuildSettings]) -> Elements:
    settings = model.settings
    slots = {"title": unit.title, "text": unit.text, "kinds": settings.entity_types}
    # A reply is as long as its text and its limit of tokens let it be.
    lines = min(lines_for(settings.unit_tokens), lines_for(settings.num_predict))
    rounds: list[Extracted] = [await model.ask(with_lines(EXTRACT, lines), "entities", **slots)]
    for _ in range(settings.gleanings):
        found = [line for part in rounds for line in (*part.entities, *part.relations)]
        more: Extracted = await model.ask(with_lines(GLEAN, lines), "entities", **slots, found=found)
        if not set(more.entities + more.relations) - set(found):
            break
        rounds.append(more)
    mentions = [mention for part in rounds for line in part.entities for mention in _mentions(line, unit)]
    mentions += [mention for part in rounds for line in part.relations for end in _parts(line, 2) for mention in _mentions(end, unit)]
    names = {mention.key: mention.name for mention in reversed(mentions)}
    links = {link: None for part in rounds for line in part.relations if (link := _link(line, unit, names))}
    said = list(links_in_sentences(unit.pieces, names))
    first = {link.pair: link for link in reversed(said)}
    links = dict.fromkeys([link if link.description else first.get(link.pair, link) for link in links] or said)
    claims: list[Claim] = []
    if settings.claims and names:
        prompt = with_lines(CLAIMS, min(lines, lines_for(settings.num_predict, LINE_TOKENS)))
        reply = await model.ask(prompt, "claims", title=unit.title, text=unit.text, names=", ".join(sorted(names.values())))
        claims = [claim for line in reply.claims if (claim := _claim(line, unit, names))]
    return Elements(tuple(mentions), tuple(links), tuple(claims))


def _parts(line: str, number: int) -> list[str]:
    parts = [part.strip() for part in line.split(BAR)]
    return (parts + [""] * number)[:number]


def _mentions(line: str, unit: TextUnit) -> list[Mention]:
    """Book a name on each passage of the unit that has it; one that none has is made up, or from an example."""
    name, kind, description = _parts(line, 3)
    key = fold(name)
    if not key or len(name) > MAX_NAME_CHARS:
        return []
    having = [piece.id for piece in unit.pieces if f" {key} " in f" {fold(' '.join(piece.titles))} {fold(piece.text)} "]
    return [Mention(key, name, id, kind.casefold(), description if number == 0 else "") for number, id in enumerate(having)]


def _link(line: str, unit: TextUnit, names: dict[str, str]) -> Link | None:
    source, target, description, strength = _parts(line, 4)
    one, other = fold(source), fold(target)
    if one == other or one not in names or other not in names:
        return None
    told = float(strength) if strength.replace(".", "", 1).isdigit() else 1.0
    both = [piece.id for piece in unit.pieces if all(f" {key} " in f" {fold(piece.text)} " for key in (one, other))]
    return make_link(one, other, description, (both or [unit.pieces[0].id])[0], min(max(told, 1.0), _STRONGEST))


def _claim(line: str, unit: TextUnit, names: dict[str, str]) -> Claim | None:
    """Read a claim; None where its subject is no name of the text, or no passage has the words that it is said to be from."""
    subject, *said = ("" if part.upper() == "NONE" else part for part in _parts(line, 7))
    about, kind, description, start, end, quoted = said
    words = quoted.strip("\"'“”‘’…. ").split()
    if fold(subject) not in names or not description or not words:
        return None
    span = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    found = next(((piece.id, match[0]) for piece in unit.pieces if (match := span.search(piece.text))), None)
    return Claim(fold(subject), about, kind, description, *found, start, end) if found else None
