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
    note_outdated,
    question_options,
)
from ramify.studio.console.streams import err, fail, note, out, print_json
from ramify.tools.new_files import check_writable
from ramify.tools.user_input import check_text

if TYPE_CHECKING:
    from ramify.graphs.run import Result

QuestionArgument = Annotated[str, typer.Argument(metavar="QUESTION", help="The question.", callback=check_text)]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the answer and its tree to one self-contained page.")]


def ask_command(
    question: QuestionArgument,
    strategy: Strategy = None,
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
    flags = {"model": model, "base_url": base_url, "preset": preset, "profile": profile, "style": style, "ask_first": ask_first}
    options = question_options(settings, index, allow_pickle, filters, **flags)
    if html is not None:
        check_writable(html)
    with nullcontext() if as_json else err().status("loading …"):
        from ramify.graphs.choice import choose_strategy
        from ramify.graphs.strategies import describe_max_calls
        from ramify.studio.drawing.terminal import print_answer

        strategy = strategy or choose_strategy(options)
    if tree and not as_json:
        note(describe_max_calls(strategy, options))
    result, problem = _run_question(question, strategy, options, as_json)
    if as_json:
        print_json(result.to_json())
    else:
        note_outdated(index)
        print_answer(result, out(), tree)
    if problem:
        fail(problem)
    if html is not None:
        from ramify.studio.drawing.page import write_page

        write_page(result, html)
        if not as_json:
            note(f"the page is in {html}")
    if problem:
        raise typer.Exit(1)


def _run_question(question: str, strategy: str, options: dict[str, Any], is_silent: bool) -> tuple["Result", str]:
    """Ask a question, with the growing tree on stderr; return the result, and why the model could not be called, or an empty text."""
    from ramify.graphs.run import WARNING, failure_reason
    from ramify.graphs.run import ask as run
    from ramify.nodes.asking.ask import answerer_class
    from ramify.nodes.settings import EMBEDDED
    from ramify.studio.console.answering import LiveTree, terminal_reviewer

    objection_notice = answerer_class(EMBEDDED).objection(question)
    delayed: list[str] = []  # these may repeat the reason why the model could not be called, which is printed as an error

    def on_notice(notice: str) -> None:
        if notice == objection_notice or notice.startswith(WARNING):
            delayed.append(notice)
        else:
            note(notice)

    live_tree: AbstractContextManager[LiveTree | None] = nullcontext() if is_silent else LiveTree(err(), on_notice)
    with live_tree as tracker:
        result = run(question, strategy, tracker, terminal_reviewer(strategy, options, tracker), **options)
    problem = failure_reason(result)
    for notice in delayed:
        if not problem or problem not in notice:
            note(notice)
    return result, problem
