"""Replies to the prompts of building a graph or a hierarchy: extract, missed, glean, claims, describe, report, summarize_cluster, support.

A build with the embedded model does not ask them: rules that see the whole corpus, or a whole cluster, find more. They are here because
every prompt of the toolkit has a reply.
"""

from itertools import combinations

from ramify.tools.english import names_in, sentences
from ramify.tools.extractive.slots import Reply, Slots

_BAR = " | "
_MOST, _LINE, _DESCRIPTION, _TITLE = 10, 120, 600, 80
_FINDINGS = 6
_SENTENCES = 5
_FINDING = 220


def extract(slots: Slots) -> Reply:
    """Name what has a capital, and connect what one sentence has."""
    said = [(sentence, names_in(sentence)) for sentence in sentences(str(slots["text"]))]
    named = {name: sentence for sentence, names in reversed(said) for name in names}
    pairs = {pair: sentence for sentence, names in reversed(said) for pair in combinations(names, 2)}
    return {
        "entities": [_BAR.join((name, "", sentence))[:_LINE] for name, sentence in named.items()][:_MOST],
        "relations": [_BAR.join((one, other, sentence))[:_LINE] for (one, other), sentence in pairs.items()][:_MOST],
    }


def missed(slots: Slots) -> Reply:
    """Say that all was found: what the rules miss once, they miss again."""
    return {"complete": "YES"}


def glean(slots: Slots) -> Reply:
    """Find nothing more."""
    return {"entities": [], "relations": []}


def claims(slots: Slots) -> Reply:
    """Find no claims: rules do not know one."""
    return {"claims": []}


def describe(slots: Slots) -> Reply:
    """Join what was said."""
    told = slots["told"] if isinstance(slots["told"], list) else [str(slots["told"])]
    return {"description": " ".join(dict.fromkeys(map(str, told)))[:_DESCRIPTION]}


def report(slots: Slots) -> Reply:
    """Quote the first lines of the material."""
    lines = [str(line) for line in slots["material"]] if isinstance(slots["material"], list) else [str(slots["material"])]
    findings = [f"{line[:_FINDING]} [{number}]" for number, line in enumerate(lines[:_FINDINGS], 1)]
    return {"title": lines[0].partition(":")[0][:_TITLE] if lines else "", "summary": "", "importance": 0.5, "findings": findings}


def sum_up(slots: Slots) -> Reply:
    """Quote the first sentence of each of the first passages; a quotation is supported, so asking again changes nothing."""
    texts = slots["material"] if isinstance(slots["material"], list) else [str(slots["material"])]
    first = [said[0] for text in texts if (said := sentences(str(text)))]
    return {"sentences": list(dict.fromkeys(first))[:_SENTENCES]}
