"""Generated examples: records, tables and e-mail headers, with a question for one field, which is missing in a third of them.

Names, fields and values are random, so that only the position of a value determines the answer. A passage contains several records with
similar values; a question names a record and a field.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from plugins.embedded.training.example import Example, seeded_random
from ramify.embedded.reader.reading import add_title

_FIRST: Final = (
    "Ada", "Bruno", "Chidi", "Dana", "Emre", "Farah", "Gwen", "Hiro", "Ines", "Jonas", "Kofi", "Leila", "Mina", "Nuno", "Olga", "Pavel",
    "Qing", "Rosa", "Sven", "Tariq", "Ursula", "Vera", "Wanda", "Ximena", "Yusuf", "Zoe", "Ji-woo", "Marek", "Anneli", "Piotr",
)  # fmt: skip
_LAST: Final = (
    "Abara", "Brandt", "Castro", "Dumont", "Eriksen", "Farkas", "Goto", "Hansen", "Ibrahim", "Jensen", "Kowalski", "Lindqvist", "Moreau",
    "Novak", "Okafor", "Petrov", "Quist", "Ricci", "Sato", "Tanaka", "Ueda", "Varga", "Weiss", "Xu", "Yilmaz", "Zeman", "Park", "Byrne",
    "Ferreira", "Holt",
)  # fmt: skip
_THINGS: Final = (
    "Pump", "Valve", "Router", "Scanner", "Switch", "Printer", "Gasket", "Lamp", "Desk", "Chair", "Drill", "Kettle", "Sensor", "Battery",
    "Cable", "Filter", "Server", "Monitor", "Trolley", "Projector", "Heater", "Camera", "Tablet", "Bracket", "Compressor", "Mixer",
)  # fmt: skip
_PLACES: Final = (
    "Lund", "Aveiro", "Kisumu", "Graz", "Odense", "Busan", "Cork", "Leuven", "Porto", "Tartu", "Brno", "Bergen", "Turin", "Nantes",
    "Izmir", "Daegu",
)  # fmt: skip
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_STATES: Final = ("open", "closed", "in repair", "approved", "pending", "on loan", "cancelled")
_TOPICS: Final = (
    "Budget 2025", "Fire drill", "New badge readers", "Travel to Graz", "Leak in room 12", "Invoice 4471", "Tender for printers",
    "Holiday plan", "Audit dates", "Broken lift",
)  # fmt: skip
_COURSES: Final = (
    "First aid", "Forklift licence", "Excel basics", "Fire safety", "Negotiation", "Data protection", "Welding", "Public speaking",
    "Network basics", "Time management", "Lab safety", "Crane signals",
)  # fmt: skip
Columns = dict[str, tuple[str, str, str]]
"""By field name: two wordings in questions, and the kind of its values."""
_STAFF: Final[Columns] = {
    "Role": ("role", "job", "state"),
    "Office": ("office", "room", "room"),
    "Phone": ("phone number", "extension", "phone"),
    "E-mail": ("e-mail address", "mail", "mail"),
    "Manager": ("manager", "boss", "person"),
    "Deputy": ("deputy", "stand-in", "person"),
    "Start date": ("start date", "first day", "day"),
    "Location": ("location", "place of work", "place"),
    "Days of leave": ("days of leave", "vacation days", "count"),
    "Salary": ("salary", "pay", "money"),
}
_STOCK: Final[Columns] = {
    "Price": ("price", "cost", "money"),
    "Weight": ("weight", "weight", "kg"),
    "Stock": ("stock", "number in stock", "count"),
    "Supplier": ("supplier", "contact at the supplier", "person"),
    "Delivery": ("delivery date", "date of delivery", "day"),
    "Warehouse": ("warehouse", "place where it is kept", "place"),
    "Shelf": ("shelf", "shelf number", "room"),
    "Power": ("power", "power rating", "W"),
    "Discount": ("discount", "rebate", "share"),
    "Warranty until": ("end of the warranty", "warranty date", "day"),
    "Status": ("status", "state", "state"),
    "Min. order": ("minimum order", "smallest order", "count"),
    "Width": ("width", "width", "mm"),
}
_EVENT: Final[Columns] = {
    "Date": ("date", "day", "day"),
    "Start": ("start time", "beginning", "time"),
    "End": ("end time", "finishing time", "time"),
    "Room": ("room", "room", "room"),
    "Trainer": ("trainer", "person in charge", "person"),
    "Fee": ("fee", "price", "money"),
    "Seats": ("number of seats", "seats", "count"),
    "Town": ("town", "place", "place"),
    "Status": ("status", "state", "state"),
}
_ASKED: Final = (
    "What is the {field} of {name}?", "What {field} does {name} have?", "Which {field} is given for {name}?", "{name}: {field}?",
    "What's {name}'s {field}?", "Tell me the {field} of {name}.", "I need the {field} for {name}.", "{field} of {name}",
    "Do you know the {field} of {name}?", "What does the list say about the {field} of {name}?",
)  # fmt: skip
_OF_KIND: Final = {
    "person": ("Who is the {field} of {name}?", "Who is listed as {field} for {name}?"),
    "day": ("When is the {field} of {name}?", "On what day is the {field} for {name}?"),
    "money": ("How much is the {field} of {name}?", "How high is the {field} for {name}?"),
    "count": ("How many {field} are listed for {name}?",),
    "place": ("Where is {name} ({field})?",),
    "time": ("At what time is the {field} of {name}?",),
}


def _day(choose: random.Random) -> str:
    day, month, year = choose.randrange(1, 29), choose.randrange(12), choose.randrange(2019, 2028)
    name = _MONTHS[month]
    return choose.choice(
        (f"{day} {name} {year}", f"{year}-{month + 1:02}-{day:02}", f"{day:02}.{month + 1:02}.{year}", f"{name} {day}, {year}")
    )


def _person(choose: random.Random) -> str:
    return f"{choose.choice(_FIRST)} {choose.choice(_LAST)}"


def _item(choose: random.Random) -> str:
    return f"{choose.choice(_THINGS)} {choose.choice('ABCDEFGHKLMNPRSTX')}{choose.choice(('', '-'))}{choose.randrange(2, 990)}"


def _money(choose: random.Random) -> str:
    whole, cents = choose.randrange(3, 900), choose.randrange(100)
    amount = choose.choice((f"{whole}", f"{whole}.{cents:02}", f"{cents + 1},{choose.randrange(1000):03}"))
    return choose.choice((f"{amount} EUR", f"€{amount}", f"${amount}", f"£{amount}", amount))


def _mail(choose: random.Random) -> str:
    firm = choose.choice(("northgate", "ellery", "mapleworks"))
    return f"{choose.choice(_FIRST).lower()}.{choose.choice(_LAST).lower()}@{firm}.example"


def _phone(choose: random.Random) -> str:
    part, last = choose.randrange(100, 999), choose.randrange(1000, 9999)
    return choose.choice((f"{last}", f"+{choose.randrange(30, 99)} {part} {last}", f"ext. {part}"))


def _room(choose: random.Random) -> str:
    floor, door = choose.randrange(1, 5), choose.randrange(1, 40)
    return choose.choice((f"{choose.choice('ABCD')}{floor}.{door:02}", f"Room {floor}{door:02}", f"{floor}/{door}"))


def _measure(unit: str, choose: random.Random) -> str:
    return f"{choose.randrange(1, 950)}{choose.choice(('', ' '))}{unit}"


_VALUES: Final[dict[str, Callable[[random.Random], str]]] = {
    "person": _person,
    "day": _day,
    "money": _money,
    "mail": _mail,
    "phone": _phone,
    "room": _room,
    "place": lambda choose: choose.choice(_PLACES),
    "state": lambda choose: choose.choice(_STATES),
    "time": lambda choose: f"{choose.randrange(6, 21):02}:{choose.choice(('00', '15', '30', '45'))}",
    "share": lambda choose: f"{choose.randrange(1, 100)} %",
    "count": lambda choose: str(choose.randrange(1, 400)),
    "kg": partial(_measure, "kg"),
    "W": partial(_measure, "W"),
    "mm": partial(_measure, "mm"),
}


def record_examples(count: int) -> Iterator[Example]:
    """Yield `count` generated passages with a question each; a third of the questions has no answer."""
    for number in range(count):
        choose = seeded_random("records", number)
        make = choose.choice((_lists, _lists, _rows, _rows, _mails))
        yield make(number, choose)


def _subject(choose: random.Random) -> tuple[Columns, list[str], str]:
    which = choose.randrange(3)
    if which == 0:
        return (
            _STAFF,
            list(dict.fromkeys(_person(choose) for _ in range(9))),
            choose.choice(("Staff list", "Contacts", "Team", "Who is who")),
        )
    if which == 1:
        title = choose.choice(("Price list", "Stock list", "Parts", "Inventory", "Equipment"))
        return _STOCK, list(dict.fromkeys(_item(choose) for _ in range(9))), title
    return _EVENT, choose.sample(_COURSES, 9), choose.choice(("Courses", "Training calendar", "Sessions", "Course plan"))


@dataclass(frozen=True)
class _Table:
    """Rows of values by field, and the name and field of the question."""

    columns: Columns
    title: str
    fields: list[str]
    rows: dict[str, dict[str, str]]
    name: str
    field: str


def _table(choose: random.Random) -> _Table:
    """Return a random table; in a third of cases the row, column or value of the question is missing."""
    columns, names, title = _subject(choose)
    fields = choose.sample(list(columns), choose.randrange(3, 6))
    listed = names[: choose.randrange(2, 6)]
    name, field, draw = choose.choice(listed), choose.choice(fields), choose.random()
    if draw < 0.11:
        name = names[len(listed)]
    elif draw < 0.22:
        field = choose.choice([column for column in columns if column not in fields])
    rows = {row: {column: _VALUES[columns[column][2]](choose) for column in fields} for row in listed}
    for row, values in rows.items():
        if (row == name and 0.22 <= draw < 0.33) or (row != name and choose.random() < 0.2):
            values.pop(field if row == name else choose.choice(fields), None)
    return _Table(columns, title, fields, rows, name, field)


def _asked_of(table: _Table, choose: random.Random) -> str:
    formal, plain, kind = table.columns[table.field]
    forms = (*_ASKED, *_OF_KIND.get(kind, ()), *_OF_KIND.get(kind, ()))
    name = table.name
    if table.columns is _STAFF and choose.random() < 0.25 and sum(row.split()[-1] == name.split()[-1] for row in table.rows) < 2:
        name = name.split()[-1] if name in table.rows else name
    return choose.choice(forms).format(field=choose.choice((formal, formal, plain, table.field.lower())), name=name)


def _lists(number: int, choose: random.Random) -> Example:
    table = _table(choose)
    between, apart = choose.choice((": ", ": ", ": ", " = ", " – ")), choose.choice(("\n\n", "\n\n", "\n---\n", "\n"))
    key = "Course" if table.columns is _EVENT else choose.choice(("Name", "Name", "Item", "Entry"))
    text, span = "", None
    for name, values in table.rows.items():
        text += (apart if text else "") + (f"{key}{between}{name}" if choose.random() < 0.9 else name)
        for field in (column for column in table.fields if column in values):
            text += f"\n{field}{between}"
            if (name, field) == (table.name, table.field):
                span = (len(text), len(text) + len(values[field]))
            text += values[field]
    return _example(number, table.title, text, _asked_of(table, choose), span)


def _rows(number: int, choose: random.Random) -> Example:
    table = _table(choose)
    bar, nothing = choose.choice((" | ", " | ", " | ", "\t", "; ")), choose.choice(("n/a", "–", "", "not known"))
    text = bar.join([choose.choice(("Name", "Item", "Entry")) if table.columns is not _EVENT else "Course", *table.fields])
    if choose.random() < 0.4:
        text = (
            choose.choice(("Prices without tax.", "Valid from 1 March.", "All figures as agreed.", "Draft, not checked.")) + "\n\n" + text
        )
    span = None
    for name, values in table.rows.items():
        text += f"\n{name}"
        for field in table.fields:
            text += bar
            if (name, field) == (table.name, table.field) and field in values:
                span = (len(text), len(text) + len(values[field]))
            text += values.get(field, nothing)
    return _example(number, table.title, text, _asked_of(table, choose), span)


_HEADS: Final = {
    "From": ("Who wrote the mail about {topic}?", "Who sent the message on {topic}?", "From whom is the mail {topic}?"),
    "To": ("To whom was the mail about {topic} sent?", "Who received the message on {topic}?"),
    "Cc": ("Who was in copy of the mail about {topic}?", "Who got a copy of the message on {topic}?"),
    "Date": ("When was the mail about {topic} sent?", "What is the date of the message on {topic}?"),
}


def _mails(number: int, choose: random.Random) -> Example:
    topics = choose.sample(_TOPICS, choose.randrange(2, 4))
    topic, field, there = choose.choice(topics), choose.choice(list(_HEADS)), choose.random() < 0.67
    text, span = "", None
    for subject in topics:
        heads = {"From": _person(choose), "To": _person(choose), "Cc": _person(choose), "Date": _day(choose), "Subject": subject}
        for head, value in heads.items():
            if (head == field and not there and subject == topic) or (head == "Cc" and subject != topic and choose.random() < 0.5):
                continue
            text += f"{head}: "
            if head == field and subject == topic:
                span = (len(text), len(text) + len(value))
            text += value + "\n"
        text += (
            "\n"
            + choose.choice(("Please see the notes.", "As agreed this morning.", "Could you have a look?", "More tomorrow."))
            + f" {_person(choose)} will follow up on {_day(choose)}.\n\n"
        )
    return _example(
        number,
        choose.choice(("Mails", "Inbox", "Thread", "Correspondence")),
        text.strip(),
        choose.choice(_HEADS[field]).format(topic=topic),
        span,
    )


def _example(number: int, title: str, text: str, question: str, span: tuple[int, int] | None) -> Example:
    context = add_title(title, text)
    shift = len(context) - len(text)
    asked = question[:1].upper() + question[1:]
    if span is None:
        return Example("records", f"record-{number}", asked, context, "none")
    return Example("records", f"record-{number}", asked, context, "span", ((span[0] + shift, span[1] + shift),), True)
