"""ramify ask: answer a question."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.studio.console.options import (
    AllowPickle,
    AsJson,
    AskFirst,
    BaseUrl,
    Filters,
    Indexes,
    ModelName,
    Preset,
    Profile,
    Settings,
    ShowTree,
    Strategy,
    Style,
    question_options,
)
from ramify.studio.console.streams import err, fail, note, out, print_json
from ramify.tools.new_files import check_writable
from ramify.tools.user_input import check_text

if TYPE_CHECKING:
    from ramify.graphs.run import Result

Asked = Annotated[str, typer.Argument(metavar="QUESTION", help="What to ask.", callback=check_text)]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the answer and its tree to one self-contained page.")]


def ask(
    question: Asked,
    strategy: Strategy = "prune",
    index: Indexes = None,
    allow_pickle: AllowPickle = False,
    model: ModelName = None,
    base_url: BaseUrl = None,
    settings: Settings = None,
    preset: Preset = None,
    profile: Profile = None,
    filters: Filters = None,
    style: Style = None,
    ask_first: AskFirst = None,
    tree: ShowTree = False,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question, with citations and the tree of sub-questions that led to it."""
    named = {"model": model, "base_url": base_url, "preset": preset, "profile": profile, "style": style, "ask_first": ask_first}
    options = question_options(settings, index, allow_pickle, filters, **named)
    if html is not None:
        check_writable(html)
    with nullcontext() if as_json else err().status("loading …"):
        from ramify.graphs.strategies import describe_max_calls
        from ramify.studio.drawing.terminal import show
    if tree and not as_json:
        note(describe_max_calls(strategy, options))
    result, problem = _asked(question, strategy, options, as_json)
    if as_json:
        print_json(result.to_json())
    else:
        show(result, out(), tree)
    if problem:
        fail(problem)
    if html is not None:
        from ramify.studio.drawing.page import write_page

        write_page(result, html)
        if not as_json:
            note(f"the page is in {html}")
    if problem:
        raise typer.Exit(1)


def _asked(question: str, strategy: str, options: dict[str, Any], silent: bool) -> tuple["Result", str]:
    """Ask, with the growing tree on stderr; return the result and why the question could not be asked, or an empty text."""
    from ramify.graphs.run import WARNING, could_not_ask
    from ramify.graphs.run import ask as run
    from ramify.studio.console.answering import Watching, reviewer_for
    from ramify.tools.extractive.questions import unreadable_reason

    objected = unreadable_reason(question)
    held: list[str] = []  # what may say why the question could not be asked: an error says it

    def tell(notice: str) -> None:
        if notice == objected or notice.startswith(WARNING):
            held.append(notice)
        else:
            note(notice)

    watching: AbstractContextManager[Watching | None] = nullcontext() if silent else Watching(err(), tell)
    with watching as watch:
        result = run(question, strategy, watch, reviewer_for(strategy, options, watch), **options)
    problem = could_not_ask(result)
    for notice in held:
        if not problem or problem not in notice:
            note(notice)
    return result, problem
