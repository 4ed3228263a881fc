"""Extraction of names and relations by a language model (GraphRAG §1), with gleaning and claims; failed texts are halved."""

import re
from collections.abc import Callable, Sequence

from ramify.kinds.asking.reply_cache import CachedModel, max_parallel_calls, run_concurrently
from ramify.kinds.examples import extract_examples, glean_examples
from ramify.kinds.knowledge.build import BUDGET_EXHAUSTED
from ramify.kinds.knowledge.elements import Claim, Elements, Link, Mention, TextUnit, make_link, split_unit
from ramify.kinds.knowledge.rule_builder import MAX_NAME_CHARS, links_in_sentences
from ramify.kinds.prompts import CLAIMS, EXTRACT, GLEAN, Extracted
from ramify.kinds.prompts.extract import BAR, with_lines
from ramify.kinds.settings import BuildSettings
from ramify.tools.english import fold
from ramify.tools.errors import BudgetError, ReplyError
from ramify.tools.names import contains_name

_MAX_HALVINGS = 2


async def extract_elements(
    units: Sequence[TextUnit], model: CachedModel[BuildSettings], on_done: Callable[[int], None]
) -> tuple[list[Elements], dict[str, str]]:
    """Read units concurrently; return their elements, and the errors of unread units by the id of their first passage."""

    async def read(unit: TextUnit) -> tuple[list[Elements], str]:
        return await _read_halving(unit, model, _MAX_HALVINGS)

    results = await run_concurrently(read, units, max_parallel_calls(model.settings), on_done)
    extracted: list[Elements] = []
    unread: dict[str, str] = {}
    for unit, result in zip(units, results, strict=True):
        if isinstance(result, BudgetError):
            unread[unit.pieces[0].id] = BUDGET_EXHAUSTED
            continue
        elements, failure = result
        extracted += elements
        if failure:
            unread[unit.pieces[0].id] = failure
    return extracted, unread


async def _read_halving(unit: TextUnit, model: CachedModel[BuildSettings], halvings: int) -> tuple[list[Elements], str]:
    """Return the elements of a unit and an error, if any; without a valid reply the unit is halved, up to `left` times."""
    try:
        return [await _read(unit, model)], ""
    except ReplyError as error:
        parts = split_unit(unit) if halvings else ()
        if len(parts) < 2:
            return [], error.what
    results = [await _read_halving(part, model, halvings - 1) for part in parts]
    return [elements for extracted, _ in results for elements in extracted], next((failure for _, failure in results if failure), "")


async def _read(unit: TextUnit, model: CachedModel[BuildSettings]) -> Elements:
    settings = model.settings
    slots = {"title": unit.title, "text": unit.text, "kinds": settings.entity_types}
    prompts = (extract_examples(EXTRACT, settings.examples), glean_examples(GLEAN, settings.examples), CLAIMS)
    extract, glean, claim = (with_lines(prompt, settings.unit_tokens, settings.num_predict) for prompt in prompts)
    rounds: list[Extracted] = [await model.reply_to(extract, "entities", **slots)]
    found = _names(rounds[0])
    for _ in range(settings.gleanings):
        more: Extracted = await model.reply_to(glean, "entities", **slots, found=found)
        if not set(_names(more)) - set(found):
            break
        rounds.append(more)
        found = [*found, *_names(more)]
    mentions = [mention for part in rounds for line in part.entities for mention in _mentions(line, unit)]
    mentions += [mention for part in rounds for line in part.relations for end in _parts(line, 2) for mention in _mentions(end, unit)]
    names = {mention.key: mention.name for mention in reversed(mentions)}
    links = {link: None for part in rounds for line in part.relations if (link := _link(line, unit, names))}
    said = list(links_in_sentences(unit.pieces, names))
    first = {link.pair: link for link in reversed(said)}
    links = dict.fromkeys([link if link.description else first.get(link.pair, link) for link in links] or said)
    claims: list[Claim] = []
    if settings.claims and names:
        reply = await model.reply_to(claim, "claims", title=unit.title, text=unit.text, names=", ".join(sorted(names.values())))
        claims = [made for line in reply.claims if (made := _claim(line, unit, names))]
    return Elements(tuple(mentions), tuple(links), tuple(claims))


def _parts(line: str, number: int) -> list[str]:
    parts = [part.strip() for part in line.split(BAR)]
    return (parts + [""] * number)[:number]


def _names(reply: Extracted) -> list[str]:
    """Return the names and the related pairs of names of a reply, without their descriptions."""
    return [_parts(line, 1)[0] for line in reply.entities] + [f" {BAR} ".join(_parts(line, 2)) for line in reply.relations]


def _mentions(line: str, unit: TextUnit) -> list[Mention]:
    """Return a mention of a name for each passage of the unit that contains it; none for a name that the model made up."""
    name, kind, description = _parts(line, 3)
    key = fold(name)
    if not key or len(name) > MAX_NAME_CHARS:
        return []
    having = [piece.id for piece in unit.pieces if any(contains_name(text, name) for text in (piece.text, *piece.titles))]
    return [Mention(key, name, id, kind.casefold(), description if number == 0 else "") for number, id in enumerate(having)]


def _link(line: str, unit: TextUnit, names: dict[str, str]) -> Link | None:
    source, target, description = _parts(line, 3)
    first, second = fold(source), fold(target)
    if first == second or first not in names or second not in names:
        return None
    both = [piece.id for piece in unit.pieces if all(contains_name(piece.text, names[key]) for key in (first, second))]
    return make_link(first, second, description, (both or [unit.pieces[0].id])[0])


def _claim(line: str, unit: TextUnit, names: dict[str, str]) -> Claim | None:
    """Return a claim; None if its subject is no name of the text, or if no passage contains its quotation."""
    subject, *said = ("" if part.upper() == "NONE" else part for part in _parts(line, 7))
    about, kind, description, start, end, quoted = said
    words = quoted.strip("\"'“”‘’…. ").split()
    if fold(subject) not in names or not description or not words:
        return None
    span = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    quotation = next(((piece.id, match[0]) for piece in unit.pieces if (match := span.search(piece.text))), None)
    return Claim(fold(subject), about, kind, description, *quotation, start, end) if quotation else None
