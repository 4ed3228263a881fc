"""ramify grep: find exact strings in an index."""

from contextlib import nullcontext
from typing import Annotated, Any

import typer

from ramify.studio.commands import Command
from ramify.studio.console.options import AllowPickle, AsJson, Indexes, load_stores
from ramify.studio.console.streams import err, note, out, print_json
from ramify.tools.quoting import one_line, pluralize

PatternArgument = Annotated[str, typer.Argument(metavar="STRING", help="The string as it stands in the text.")]
Regex = Annotated[bool, typer.Option("--regex", "-E", help="The string is a regular expression of RE2 (package google-re2).")]
MatchCase = Annotated[bool, typer.Option("--match-case", help="Capital and small letters differ.")]
Within = Annotated[str, typer.Option("--within", metavar="TEXT", help="Only in files whose path contains this.")]
Limit = Annotated[int, typer.Option("-n", min=1, metavar="N", help="Number of lines that are shown.")]


def grep_command(
    pattern: PatternArgument,
    index: Indexes = None,
    allow_pickle: AllowPickle = False,
    regex: Regex = False,
    match_case: MatchCase = False,
    within: Within = "",
    limit: Limit = 20,
    as_json: AsJson = False,
) -> int:
    """Find an exact string in the text of an index, such as a code or a quotation; the exit code is 1 if none was found."""
    from rich.padding import Padding
    from rich.text import Text

    with nullcontext() if as_json else err().status("searching …"):
        from ramify.agents.matching import grep
        from ramify.agents.patterns import compile_pattern
        from ramify.studio.drawing.terminal import citation_heading
        from ramify.tools.search.searcher import DEMO, unfinished_notices

        find_all = compile_pattern(pattern, regex, match_case)
        stores = load_stores(index, allow_pickle) or [DEMO]
        where: Any = stores[0] if len(stores) == 1 else stores
        matches = grep(where, pattern, regex=regex, match_case=match_case, within=within, limit=limit)
    for notice in unfinished_notices(where):
        note(notice)
    if as_json:
        print_json(matches.to_json())
        return 0 if matches.total else 1
    for number, citation in enumerate(matches.citations, 1):
        out().print(citation_heading(number, citation, ""))
        quote = Text(one_line(citation.quote))
        for begin, end in find_all(quote.plain):
            quote.stylize("bold", begin, end)
        out().print(Padding(quote, (0, 0, 0, 2), expand=False))
    note(f"{pluralize(matches.total, 'place')} in {pluralize(matches.searched, 'passage')}")
    if not matches.complete:
        note(f"the time was used up: {matches.passages - matches.searched:,} passages were not searched; name files with --within")
    return 0 if matches.total else 1


COMMAND = Command(grep_command, "Ask", after="search")
