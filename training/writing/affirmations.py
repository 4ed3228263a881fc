"""Frames that ask whether something holds of both things, of one of them, or of which."""

# ruff: noqa: E501  # tables

from collections.abc import Iterator
from typing import Final

from training.writing.contrasts import Contrast

_IS: Final = {
    "person": "American; British; German; from France; still alive; married; left-handed; known for comedy; of Italian descent; buried in London; a film director; an actor; a politician; a singer; a writer; a scientist; a footballer; an Oscar winner; vegetarian; retired",
    "film": "based on a novel; in black and white; set in New York; produced by Disney; available on DVD; a comedy; a documentary; a silent film; an animated film; directed by a woman; rated R; in Spanish",
    "city": "in Europe; on the coast; in Germany; a capital; north of London; a port; landlocked; accessible by train",
    "company": "American; based in Europe; publicly traded; family-owned; bankrupt; a bank; an airline; listed in New York; owned by the state",
    "software": "open source; free; available for Linux; supported on Windows; written in Java; certified; included in the basic license; installed on every laptop; deprecated; a database; cloud-based",
    "setting": "enabled by default; required; case sensitive; deprecated; read-only; available in version 2; documented; limited to administrators",
    "device": "certified; in operation; under warranty; suitable for outdoor use; out of service; approved for wet areas; fitted with a relief valve; calibrated",
    "document": "signed; confidential; still valid; approved by the board; older than a year; available in English; archived; legally binding",
    "project": "on schedule; finished; over budget; cancelled; funded by the EU; approved; behind schedule",
    "employee": "on vacation; a manager; certified in first aid; a member of the works council; available on Monday; trained for forklifts; part-time",
    "invention": "poisonous; edible; made of metal; native to Africa; used in cooking; flammable; a mammal; water soluble; named after a person; native to southern Asia",
    "band": "still together; from England; signed to Sony; a rock band; inducted into the hall of fame", "part": "in stock; compatible with the old model; made of steel; reusable; waterproof",
    "order": "delivered; paid; delayed; complete; cancelled", "country": "landlocked; a monarchy; in the European Union; a member of NATO; an island; in Africa",
    "university": "private; in California; a public university; older than a century; for women only", "building": "open to the public; made of stone; taller than a hundred meters; in Chicago; listed as a monument",
    "book": "set in Paris; a best seller; written in French; a children's book; banned in schools", "magazine": "published monthly; out of print; a weekly; printed in Spanish",
    "service": "encrypted; available in Europe; monitored; running; load balanced; exposed to the internet", "server": "virtual; backed up daily; reachable from outside; patched", "file": "encrypted; writable; included in the backup; required",
    "command": "available on Linux; deprecated; limited to administrators; supported in version 7", "game": "available for PC; multiplayer; a sequel; free to play",
}  # fmt: skip
_DO: Final = {
    "software": "support encryption/supports encryption; require a license/requires a license; run on Linux/runs on Linux; have a web interface/has a web interface; use a database/uses a database; work offline/works offline; support single sign-on/supports single sign-on",
    "person": "have children/has children; speak French/speaks French; play the piano/plays the piano; live in London/lives in London; have a brother/has a brother",
    "device": "need oil/needs oil; have an emergency stop/has an emergency stop; use battery power/uses battery power; require a permit/requires a permit", "document": "contain a penalty clause/contains a penalty clause; mention overtime/mentions overtime; need a signature/needs a signature",
    "command": "require administrator rights/requires administrator rights; accept a file name/accepts a file name; return a list/returns a list", "country": "use the euro/uses the euro; have a king/has a king; border the sea/borders the sea",
    "service": "use TLS/uses TLS; need a password/needs a password; write logs/writes logs; run as root/runs as root", "company": "have offices in Asia/has offices in Asia; sell software/sells software; produce steel/produces steel",
    "river": "flow through Germany/flows through Germany; flow into the Atlantic/flows into the Atlantic", "project": "have a budget/has a budget; need approval/needs approval", "setting": "need a restart/needs a restart; affect performance/affects performance; accept a list/accepts a list",
    "city": "have an airport/has an airport; have a subway/has a subway; lie on a river/lies on a river", "university": "have a medical school/has a medical school; offer online courses/offers online courses", "employee": "have access to the server room/has access to the server room; work from home/works from home; speak Spanish/speaks Spanish",
}  # fmt: skip
_DID: Final = {
    "person": "win an Oscar/won an Oscar; write novels/wrote novels; serve in the army/served in the army; direct a western/directed a western; die in Paris/died in Paris; win a Nobel Prize/won a Nobel Prize; act in films/acted in films; play for Arsenal/played for Arsenal; study law/studied law",
    "film": "win an award/won an award; star Tom Hanks/starred Tom Hanks; have a sequel/had a sequel", "company": "make a loss/made a loss; go public/went public; pay a dividend/paid a dividend", "employee": "attend the training/attended the training; sign the form/signed the form; work on the migration/worked on the migration",
    "band": "win a Grammy/won a Grammy; tour with U2/toured with U2; release a live album/released a live album", "device": "pass the inspection/passed the inspection; fail last year/failed last year", "team": "win the cup/won the cup; play in the final/played in the final", "project": "exceed its budget/exceeded its budget; miss the deadline/missed the deadline",
}  # fmt: skip


def affirmed() -> Iterator[Contrast]:
    """Give frames that ask whether something holds of both things, of one of them, or of which."""
    for kind, text in _IS.items():
        for told in text.split("; "):
            who = "Who" if kind in ("person", "employee") else "Which {n}"
            each = f"Is {{s}} {told}?"
            if not told.startswith(("a ", "an ")):
                yield from (
                    Contrast(kind, "both", frame, each)
                    for frame in (f"Are both {{a}} and {{b}} {told}?", f"Are {{a}} and {{b}} both {told}?", f"Are {{a}} and {{b}} {told}?")
                )
            yield from (
                Contrast(kind, "either", frame, each)
                for frame in (
                    f"Is either {{a}} or {{b}} {told}?",
                    f"Is one of {{a}} and {{b}} {told}?",
                    f"Is at least one of {{a}} and {{b}} {told}?",
                )
            )
            yield from (
                Contrast(kind, "which", frame, each)
                for frame in (f"Which of {{a}} and {{b}} is {told}?", f"{who} is {told}, {{a}} or {{b}}?", f"Is {{a}} or {{b}} {told}?")
            )
    yield from _acted(_DO, "Do", "Does")
    yield from _acted(_DID, "Did", "Did")


def _acted(table: dict[str, str], many: str, one: str) -> Iterator[Contrast]:
    for kind, text in table.items():
        for plain, told in (pair.split("/") for pair in text.split("; ")):
            who = "Who" if kind in ("person", "employee") else "Which {n}"
            each = f"{one} {{s}} {plain}?"
            yield from (
                Contrast(kind, "both", frame, each)
                for frame in (f"{many} both {{a}} and {{b}} {plain}?", f"{many} {{a}} and {{b}} both {plain}?")
            )
            yield from (
                Contrast(kind, "either", frame, each)
                for frame in (f"{one} either {{a}} or {{b}} {plain}?", f"{one} one of {{a}} and {{b}} {plain}?")
            )
            yield from (
                Contrast(kind, "which", frame, each)
                for frame in (f"Which of {{a}} and {{b}} {told}?", f"{who} {told}, {{a}} or {{b}}?", f"{one} {{a}} or {{b}} {plain}?")
            )
