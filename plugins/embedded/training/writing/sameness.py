"""Frames that ask whether two things are alike, what they share, and whether something holds of both, of one, or of which."""

# ruff: noqa: E501  # tables

from collections.abc import Iterator
from typing import Final

from plugins.embedded.training.writing.contrasts import Contrast

_LIVES = """
person | earlier | Who was born first, {a} or {b}? | Who was born earlier, {a} or {b}? | Was {a} or {b} born first? | Which of {a} and {b} was born first? | Between {a} and {b}, who was born first? | Of {a} and {b}, who is older? | {a} or {b}, who was born earlier? | Who is the older one, {a} or {b}? | When was {s} born?
person | later | Who was born later, {a} or {b}? | Who is younger, {a} or {b}? | Who was born last, {a} or {b}? | Was {a} or {b} born more recently? | Who is the younger of {a} and {b}? | When was {s} born?
person | before | Was {a} born before {b}? | Was {a} born earlier than {b}? | When was {s} born?
person | after | Was {a} born after {b}? | Was {a} born later than {b}? | When was {s} born?
person | earlier | Who died first, {a} or {b}? | Who died earlier, {a} or {b}? | Did {a} or {b} die first? | Which of {a} and {b} died first? | Who passed away first, {a} or {b}? | When did {s} die?
person | later | Who died later, {a} or {b}? | Who died last, {a} or {b}? | Who died more recently, {a} or {b}? | Did {a} or {b} die later? | When did {s} die?
person | before | Did {a} die before {b}? | When did {s} die?
person | after | Did {a} die after {b}? | Did {a} die later than {b}? | When did {s} die?
person | more | Who lived longer, {a} or {b}? | Did {a} or {b} live longer? | Who had the longer life, {a} or {b}? | How long did {s} live?
person | exceeds | Did {a} live longer than {b}? | How long did {s} live?
person | more | Who won more awards, {a} or {b}? | Who has won the most awards, {a} or {b}? | How many awards did {s} win?
person | more | Who directed more films, {a} or {b}? | How many films did {s} direct?
person | more | Who wrote more books, {a} or {b}? | Did {a} or {b} write more books? | How many books did {s} write?
person | exceeds | Did {a} write more books than {b}? | How many books did {s} write?
person | exceeds | Did {a} score more goals than {b}? | How many goals did {s} score?
band | more | Which band released more albums, {a} or {b}? | Has {a} or {b} released more albums? | How many albums did {s} release?
film | earlier | Which film came out first, {a} or {b}? | Which film came out earlier, {a} or {b}? | Which movie came out first, {a} or {b}? | Did {a} or {b} come out first? | When did {s} come out?
film | later | Which film came out later, {a} or {b}? | Which movie came out more recently, {a} or {b}? | When did {s} come out?
film | before | Did {a} come out before {b}? | When did {s} come out?
album | earlier | Which album came out first, {a} or {b}? | Did {a} or {b} come out first? | When did {s} come out?
song | before | Did {a} come out before {b}? | When did {s} come out?
series | earlier | Which series started first, {a} or {b}? | Did {a} or {b} start first? | When did {s} start?
document | earlier | Which document expires first, {a} or {b}? | Does {a} or {b} expire first? | Which of {a} and {b} expires earlier? | When does {s} expire?
document | before | Does {a} expire before {b}? | When does {s} expire?
document | after | Does {a} expire after {b}? | Does {a} expire later than {b}? | When does {s} expire?
project | earlier | Which project starts first, {a} or {b}? | Does {a} or {b} start earlier? | When does {s} start?
project | later | Which project ends later, {a} or {b}? | Does {a} or {b} end later? | When does {s} end?
project | before | Does {a} end before {b}? | When does {s} end?
project | more | Which takes longer, {a} or {b}? | Does {a} or {b} take longer? | How long does {s} take?
software | earlier | Which support ends first, {a} or {b}? | When does the support for {s} end?
software | before | Does the support for {a} end before the support for {b}? | Does support for {a} end before support for {b}? | When does the support for {s} end?
order | earlier | Which arrived first, {a} or {b}? | Did {a} or {b} arrive first? | When did {s} arrive?
part | more | Which costs more, {a} or {b}? | Does {a} or {b} cost more? | How much does {s} cost?
part | exceeds | Does {a} cost more than {b}? | How much does {s} cost?
part | less | Which costs less, {a} or {b}? | How much does {s} cost?
software | less | Which costs less, {a} or {b}? | Is {a} or {b} cheaper? | How much does {s} cost?
device | more | Which weighs more, {a} or {b}? | Does {a} or {b} weigh more? | How much does {s} weigh?
device | exceeds | Does {a} weigh more than {b}? | How much does {s} weigh?
server | more | Which server has more memory, {a} or {b}? | Does {a} or {b} have more memory? | How much memory does {s} have?
server | exceeds | Does {a} have more memory than {b}? | How much memory does {s} have?
employee | earlier | Who joined the company first, {a} or {b}? | Did {a} or {b} join the company first? | Who has been with the company longer, {a} or {b}? | When did {s} join the company?
employee | before | Did {a} join the company before {b}? | When did {s} join the company?
person | same | Are {a} and {b} from the same country? | Are both {a} and {b} from the same country? | Were {a} and {b} from the same country? | Do {a} and {b} come from the same country? | Which country is {s} from?
person | same | Do {a} and {b} have the same nationality? | Do {a} and {b} share the same nationality? | Did {a} and {b} share the same nationality? | Are {a} and {b} of the same nationality? | Did {a} and {b} have the same nationality? | What is the nationality of {s}?
person | differ | Are {a} and {b} from different countries? | Do {a} and {b} come from different countries? | Which country is {s} from?
person | differ | Do {a} and {b} have different nationalities? | Are {a} and {b} of different nationality? | What is the nationality of {s}?
person | same | Were {a} and {b} born in the same city? | Were both {a} and {b} born in the same city? | Are {a} and {b} born in the same city? | In which city was {s} born?
person | same | Were {a} and {b} born in the same place? | Were both {a} and {b}, born in the same place? | Do {a} and {b} share a birthplace? | Where was {s} born?
person | same | Were {a} and {b} born in the same year? | Are {a} and {b} of the same age? | In which year was {s} born?
person | same | Did {a} and {b} die in the same city? | In which city did {s} die?
person | same | Did {a} and {b} go to the same university? | Which university did {s} go to?
person | same | Did {a} and {b} attend the same school? | Which school did {s} attend?
person | same | Do {a} and {b} have the same occupation? | Do {a} and {b} share the same occupation? | What is the occupation of {s}?
person | same | Do {a} and {b} play for the same team? | Which team does {s} play for?
person | same | Do {a} and {b} have the same profession? | Are {a} and {b} of the same profession? | What is the profession of {s}?
person | same | Did {a} and {b} win the same award? | Which award did {s} win?
person | same | Do {a} and {b} belong to the same party? | Which party does {s} belong to?
film | same | Are {a} and {b} from the same country? | Did the movies {a} and {b}, originate from the same country? | Were both films {a} and {b} made in the same country? | Do the films {a} and {b} come from the same country? | Which country is {s} from?
film | same | Are {a} and {b} of the same genre? | Do {a} and {b} have the same genre? | Do both films {a} and {b} belong to the same genre? | What is the genre of {s}?
film | same | Do {a} and {b} have the same director? | Were {a} and {b} directed by the same person? | Do the films {a} and {b} share a director? | Who is the director of {s}?
song | same | Do {a} and {b} have the same performer? | Were {a} and {b} sung by the same artist? | Who is the performer of {s}?
book | same | Do {a} and {b} have the same author? | Were {a} and {b} written by the same author? | Who is the author of {s}?
city | same | Are {a} and {b} in the same country? | Are {a} and {b} located in the same country? | Are both {a} and {b} located in the same country? | Are both villages, {a} and {b}, located in the same country? | Are {a} and {b} both located in the same country? | In which country is {s} located?
city | same | Are {a} and {b} in the same state? | Do {a} and {b} lie in the same state? | In which state is {s}?
city | differ | Are {a} and {b} in different countries? | Are {a} and {b} located in different countries? | In which country is {s}?
city | same | Are {a} and {b} in the same time zone? | In which time zone is {s}?
river | same | Are both rivers, {a} and {b}, located in the same country? | Do {a} and {b} flow through the same country? | In which country is {s} located?
river | same | Do {a} and {b} flow into the same sea? | Into which sea does {s} flow?
building | same | Are {a} and {b} in the same city? | Are {a} and {b} both located in the same city? | In which city is {s}?
university | same | Are {a} and {b} located in the same country? | Are both {a} and {b} located in the same state? | In which country is {s} located?
company | same | Are {a} and {b} based in the same country? | Do {a} and {b} have their headquarters in the same country? | In which country is {s} based?
company | same | Do {a} and {b} belong to the same industry? | Are {a} and {b} in the same industry? | In which industry is {s}?
company | same | Do {a} and {b} have the same owner? | Who is the owner of {s}?
band | same | Are both {a} and {b} from the same country? | Are {a} and {b} from the same city? | Which country is {s} from?
band | same | Do {a} and {b} play the same genre? | Which genre does {s} play?
country | same | Do {a} and {b} use the same currency? | Do {a} and {b} have the same currency? | What is the currency of {s}?
country | same | Is the same language spoken in {a} and {b}? | Do {a} and {b} have the same official language? | What is the official language of {s}?
country | same | Are {a} and {b} on the same continent? | Do {a} and {b} lie on the same continent? | On which continent is {s}?
country | differ | Are {a} and {b} on different continents? | On which continent is {s}?
software | same | Do {a} and {b} use the same port? | Which port does {s} use?
software | same | Do {a} and {b} have the same license? | Are {a} and {b} under the same license? | What is the license of {s}?
software | same | Are {a} and {b} made by the same company? | Do {a} and {b} come from the same vendor? | Who is the vendor of {s}?
software | same | Are {a} and {b} written in the same language? | In which language is {s} written?
software | differ | Do {a} and {b} use different databases? | Which database does {s} use?
software | differ | Do {a} and {b} use different ports? | Which port does {s} use?
setting | same | Do {a} and {b} have the same default? | Is the default of {a} the same as the default of {b}? | What is the default of {s}?
setting | same | Are {a} and {b} stored in the same file? | In which file is {s} stored?
setting | differ | Are {a} and {b} stored in different files? | In which file is {s} stored?
service | same | Do {a} and {b} listen on the same port? | Which port does {s} listen on?
service | same | Do {a} and {b} run on the same server? | Which server does {s} run on?
server | same | Do {a} and {b} run the same operating system? | Which operating system does {s} run?
server | same | Are {a} and {b} in the same data center? | In which data center is {s}?
file | same | Are {a} and {b} in the same folder? | Are {a} and {b} stored in the same folder? | In which folder is {s}?
device | same | Do {a} and {b} have the same manufacturer? | Are {a} and {b} from the same manufacturer? | Who is the manufacturer of {s}?
device | same | Do {a} and {b} use the same oil filter? | Which oil filter does {s} use?
part | same | Do {a} and {b} come from the same supplier? | Are {a} and {b} from the same supplier? | Which supplier does {s} come from?
project | same | Do {a} and {b} have the same manager? | Is the manager of {a} the same as the manager of {b}? | Who is the manager of {s}?
project | differ | Do {a} and {b} have different managers? | Who is the manager of {s}?
employee | same | Do {a} and {b} work in the same department? | Are {a} and {b} in the same department? | In which department does {s} work?
employee | same | Do {a} and {b} have the same manager? | Do {a} and {b} report to the same manager? | Who is the manager of {s}?
employee | differ | Do {a} and {b} work in different offices? | In which office does {s} work?
department | same | Are {a} and {b} on the same floor? | On which floor is {s}?
document | same | Were {a} and {b} signed by the same person? | Who signed {s}?
document | same | Do {a} and {b} have the same author? | Who is the author of {s}?
person | agree | What nationality are both {a} and {b}? | {a} and {b} are both of what nationality? | What nationality do {a} and {b} share? | What is the nationality of {s}?
person | agree | What profession do {a} and {b} share? | What profession do {a} and {b} have in common? | What is the profession of both {a} and {b}? | What is the profession of {s}?
person | agree | What occupation do {a} and {b} have in common? | What occupations do both {a} and {b} share? | What is the occupation of {s}?
person | agree | Which film stars both {a} and {b}? | Which film stars {s}?
person | agree | Which film did both {a} and {b} star in? | What film did {a} and {b} both star in? | In which film did {a} and {b} star together? | Which film did {s} star in?
person | agree | Which team did both {a} and {b} play for? | Which team have {a} and {b} both played for? | Which team did {s} play for?
person | agree | Which award did both {a} and {b} win? | What award was won by both {a} and {b}? | Which award did {s} win?
person | agree | Which university did both {a} and {b} attend? | Which university did {a} and {b} attend? | Which university did {s} attend?
person | agree | Which song did {a} and {b} record together? | Which song did {s} record?
person | agree | {a} and {b} were both born in which city? | In which city were both {a} and {b} born? | In which city was {s} born?
person | agree | Who is the child of {a} and {b}? | Who is the child of {s}?
film | agree | Who directed both {a} and {b}? | Who directed {a} and also {b}? | Who directed {s}?
film | agree | Which actor appears in both {a} and {b}? | Which actor stars in {a} and {b}? | Which actor stars in both {a} and {b}? | Which actor appears in {s}?
film | agree | What genre do {a} and {b} have in common? | Which genre do {a} and {b} share? | What is the genre of {s}?
book | agree | Who wrote both {a} and {b}? | Who is the author of both {a} and {b}? | Who wrote {s}?
song | agree | Who sang both {a} and {b}? | Which singer performed {a} and {b}? | Who sang {s}?
city | agree | Which river flows through both {a} and {b}? | What river flows through {a} and {b}? | Which river flows through {s}?
city | agree | {a} and {b} are both located in which country? | In which country are both {a} and {b} located? | In which country are {a} and {b} located? | In which country is {s} located?
city | agree | {a} and {b} are in which state? | Which state are both {a} and {b} in? | Which state is {s} in?
country | agree | Which country borders both {a} and {b}? | Which country borders {a} and {b}? | What country shares a border with {a} and {b}? | Which country borders {s}?
country | agree | Which language is spoken in both {a} and {b}? | What language is spoken in {a} and {b}? | Which language is spoken in {s}?
band | agree | Which musician was a member of both {a} and {b}? | Who played in both {a} and {b}? | Who played in {s}?
company | agree | Who founded both {a} and {b}? | Who founded {a} and {b}? | Who founded {s}?
company | agree | Which company owns both {a} and {b}? | What company owns {a} and {b}? | Which company owns {s}?
company | agree | In what industry are both {a} and {b}? | {a} and {b} are both in what industry? | In what industry is {s}?
building | agree | Which architect designed both {a} and {b}? | Who designed {a} and {b}? | Which architect designed {s}?
invention | agree | {a} and {b} are both what type of thing? | What type of thing are {a} and {b}? | What are {a} and {b} both a type of? | What type of thing is {s}?
software | agree | Which database is supported by both {a} and {b}? | Which database is supported by {s}?
software | agree | Which company develops both {a} and {b}? | Who develops {a} and {b}? | Which company develops {s}?
software | agree | Which library do both {a} and {b} depend on? | Which library does {s} depend on?
setting | agree | Which file contains both {a} and {b}? | Which file defines both {a} and {b}? | Which file contains {s}?
setting | agree | Which service uses both {a} and {b}? | Which service uses {a} and {b}? | Which service uses {s}?
command | agree | Which module provides both {a} and {b}? | Which module provides {s}?
device | agree | Who repaired both {a} and {b}? | Which technician repaired {a} and {b}? | Who repaired {s}?
device | agree | Which part is used in both {a} and {b}? | What part is used in {a} and {b}? | Which part is used in {s}?
part | agree | Which supplier delivers both {a} and {b}? | Which supplier delivers {a} and {b}? | Which supplier delivers {s}?
project | agree | Who worked on both {a} and {b}? | Who has worked on {a} and on {b}? | Who worked on {s}?
project | agree | Which department is involved in both {a} and {b}? | Which department is involved in {s}?
document | agree | Who signed both {a} and {b}? | Who signed {a} and {b}? | Who signed {s}?
document | agree | Which project is mentioned in both {a} and {b}? | Which project is mentioned in {s}?
department | agree | Which building houses both {a} and {b}? | Which building houses {s}?
rule | agree | Which document covers both {a} and {b}? | Which document covers {a} and {b}? | Which section describes both {a} and {b}? | Which document covers {s}?
"""


def listed() -> Iterator[Contrast]:
    """Give the frames that are written out."""
    for line in _LIVES.strip().splitlines():
        kind, how, *frames, each = line.split(" | ")
        yield from (Contrast(kind, how, frame, each) for frame in frames)


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
        for predicate in text.split("; "):
            who = "Who" if kind in ("person", "employee") else "Which {n}"
            each = f"Is {{s}} {predicate}?"
            if not predicate.startswith(("a ", "an ")):
                yield from (
                    Contrast(kind, "both", frame, each)
                    for frame in (
                        f"Are both {{a}} and {{b}} {predicate}?",
                        f"Are {{a}} and {{b}} both {predicate}?",
                        f"Are {{a}} and {{b}} {predicate}?",
                    )
                )
            yield from (
                Contrast(kind, "either", frame, each)
                for frame in (
                    f"Is either {{a}} or {{b}} {predicate}?",
                    f"Is one of {{a}} and {{b}} {predicate}?",
                    f"Is at least one of {{a}} and {{b}} {predicate}?",
                )
            )
            yield from (
                Contrast(kind, "which", frame, each)
                for frame in (
                    f"Which of {{a}} and {{b}} is {predicate}?",
                    f"{who} is {predicate}, {{a}} or {{b}}?",
                    f"Is {{a}} or {{b}} {predicate}?",
                )
            )
    yield from _acted(_DO, "Do", "Does")
    yield from _acted(_DID, "Did", "Did")


def _acted(table: dict[str, str], many: str, singular: str) -> Iterator[Contrast]:
    for kind, text in table.items():
        for plain, inflected in (pair.split("/") for pair in text.split("; ")):
            who = "Who" if kind in ("person", "employee") else "Which {n}"
            each = f"{singular} {{s}} {plain}?"
            yield from (
                Contrast(kind, "both", frame, each)
                for frame in (f"{many} both {{a}} and {{b}} {plain}?", f"{many} {{a}} and {{b}} both {plain}?")
            )
            yield from (
                Contrast(kind, "either", frame, each)
                for frame in (f"{singular} either {{a}} or {{b}} {plain}?", f"{singular} one of {{a}} and {{b}} {plain}?")
            )
            yield from (
                Contrast(kind, "which", frame, each)
                for frame in (
                    f"Which of {{a}} and {{b}} {inflected}?",
                    f"{who} {inflected}, {{a}} or {{b}}?",
                    f"{singular} {{a}} or {{b}} {plain}?",
                )
            )
