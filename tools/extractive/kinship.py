"""Split a grandparent or an in-law into two steps of family."""

import re

from ramify.tools.extractive.split import SLOT, Split

KIN = re.compile(
    r"(?P<side>paternal |maternal )?(?P<who>grandfather|grandmother|father-in-law|mother-in-law|child-in-law|son-in-law|daughter-in-law|"
    r"brother-in-law|sister-in-law|stepfather|stepmother|aunt|uncle)\b"
)
_KIN_STEPS = {
    "father-in-law": ("spouse", "father"), "mother-in-law": ("spouse", "mother"), "child-in-law": ("child", "spouse"),
    "son-in-law": ("daughter", "husband"), "daughter-in-law": ("son", "wife"),
    "stepfather": ("mother", "husband"), "stepmother": ("father", "wife"),
}  # fmt: skip


def kinship(text: str) -> Split | None:
    """Split a grandfather or an in-law into two steps of family."""
    found = re.match(
        rf"^(?P<ask>who (?:is|was) )(?:the (?P<of>{KIN.pattern}) of (?P<name>.+)|(?P<owner>.+?)['’]s? (?P<own>{_named(KIN.pattern)}))$",
        text,
        re.I,
    )
    if found is None:
        return None
    if re.search(r"^the |\b(?:who|that|which|whose|whom)\b", found["name"] or found["owner"]):
        return None
    name, kin = found["name"] or found["owner"], (found["of"] or found["own"]).casefold()
    steps = _kin_steps(kin)
    return Split(f"Who is the {steps[0]} of {name}?", f"Who is the {steps[1]} of {SLOT}?", "bridge") if steps else None


def _named(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


def _kin_steps(kin: str) -> tuple[str, str] | None:
    side, _, who = kin.rpartition(" ")
    if who in ("grandfather", "grandmother"):
        return ("mother" if side == "maternal" else "father" if side else "parent"), ("father" if who == "grandfather" else "mother")
    if who in ("aunt", "uncle"):
        return ("mother" if side == "maternal" else "father" if side else "parent"), ("sister" if who == "aunt" else "brother")
    return _KIN_STEPS.get(kin)
