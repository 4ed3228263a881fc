"""Text written piece by piece: spaces, lines and paragraphs as a reader would see them, cut into sections."""

from ramify.tools.documents.sections import Section


class Writer:
    """Write pieces of text under headings; what is written is gathered in `sections`."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.near_ids: list[str] = []
        """Ids found since the last text: those of what comes next."""
        self._above: list[tuple[int, str, str | None]] = []
        self._body = _Body()
        self._outer: list[tuple[_Body, str | None]] = []
        self._role: str | None = None
        self._modes = {"flat": 0, "pre": 0, "tight": 0}

    @property
    def flat(self) -> bool:
        """Tell whether all goes into one line, as in a cell of a table."""
        return bool(self._modes["flat"])

    def enter(self, mode: str) -> None:
        """Begin "flat" (one line), "pre" (as it stands) or "tight" (one paragraph)."""
        self._modes[mode] += 1

    def leave(self, mode: str) -> None:
        """End a mode."""
        self._modes[mode] -= 1

    def gap(self, lines: int) -> None:
        """Ask for a new line (1) or paragraph (2) before the next text."""
        if self.flat:
            self._body.space = True
        elif not self._body.gap_is_settled:
            self._body.gap = max(self._body.gap, min(lines, 1) if self._modes["tight"] else lines)

    def line(self, text: str) -> None:
        """Write a line above the next text."""
        self.gap(2)
        self.text(text)
        self.gap(1)
        self._body.gap_is_settled = True

    def cell(self) -> None:
        """Begin another cell of a row."""
        self._body.write_plain(" | ")

    def text(self, text: str) -> None:
        """Write text; outside "pre" its spaces and lines are those of the source file, not of the page."""
        if not text.strip() and not (self._modes["pre"] and not self.flat):
            self._body.space = self._body.space or bool(text)
            return
        self._body.write(text, self.near_ids, bool(self._modes["pre"]) and not self.flat)
        if text.strip():
            self.near_ids = []

    def heading(self, level: int, text: str, identity: str | None) -> None:
        """Begin the section of a heading."""
        self.end_section()
        self._above = [(outer, shown, name) for outer, shown, name in self._above if outer < level] + [(level, text, identity)]
        self.near_ids = []

    def back_to(self, level: int) -> None:
        """End the sections of headings of a level and below: what follows belongs to the one above them."""
        if any(own >= level for own, _, _ in self._above):
            self.end_section()
            self._above = [entry for entry in self._above if entry[0] < level]

    def begin_aside(self, role: str) -> None:
        """Begin a text that is not part of the one around it."""
        self._outer.append((self._body, self._role))
        self._body, self._role = _Body(), role

    def end_aside(self) -> None:
        """Go on with the text around."""
        self.end_section()
        self._body, self._role = self._outer.pop()
        self._body.gap = 2

    def end_section(self) -> None:
        """Gather what was written since the last section."""
        text = self._body.text()
        if text:
            headings = tuple(shown for _, shown, _ in self._above)
            fragment = next((name for _, _, name in reversed(self._above)), None)
            self.sections.append(Section(headings, text, fragment, self._role, tuple(self._body.marks)))
        self._body = _Body()


class _Body:
    """The text of a section so far."""

    def __init__(self) -> None:
        self.marks: list[tuple[int, str]] = []
        self.gap = 0
        self.space = self.gap_is_settled = False
        self._parts: list[str] = []
        self._length = 0

    def text(self) -> str:
        return "".join(self._parts).rstrip()

    def write_plain(self, text: str) -> None:
        self.space = False
        self._settle()
        self._add(text if self._parts else text.lstrip())
        self.space = False

    def write(self, text: str, ids: list[str], as_it_stands: bool) -> None:
        if as_it_stands:
            text = text.lstrip("\n") if self.gap or not self._parts else text
            self.space = False
        else:
            self.space = self.space or text[0].isspace()
        self._settle()
        if ids:
            self.marks.append((self._length, ids[-1]))
        self._add(text if as_it_stands else " ".join(text.split()))
        self.space = not as_it_stands and text[-1].isspace()

    def _settle(self) -> None:
        """Write the line, paragraph or space that is due."""
        if not self._parts:
            pass
        elif self.gap:
            while self._parts and not self._parts[-1].strip():
                self._length -= len(self._parts.pop())
            if self._parts:
                tidy = self._parts[-1].rstrip()
                self._length -= len(self._parts[-1]) - len(tidy)
                self._parts[-1] = tidy
                self._add("\n" * self.gap)
        elif self.space and not self._parts[-1][-1:].isspace():
            self._add(" ")
        self.gap, self.space, self.gap_is_settled = 0, False, False

    def _add(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += len(text)
