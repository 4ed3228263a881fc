"""ramify test: which answers change when the documents do."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.studio.commands import Command
from ramify.studio.console.options import (
    AllowPickle,
    BaseUrl,
    Filters,
    Indexes,
    ModelName,
    Preset,
    Profile,
    Settings,
    Strategy,
    question_options,
    read_pairs,
)
from ramify.studio.console.streams import err, note, out, print_json, say
from ramify.tools.errors import UsageError
from ramify.tools.new_files import cache_folder, check_writable, write_atomically
from ramify.tools.quoting import one_line, pluralize

ADD = "add"
DEFAULT_FILE = Path("tests.yaml")
What = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE | add [QUESTION]", help=f"The file of expectations [{DEFAULT_FILE}]; or `add` and a question to add to one."
    ),
]
Selected = Annotated[str | None, typer.Option("-k", metavar="TEXT", help="Run only tests whose question or note contains this text.")]
LastFailed = Annotated[bool, typer.Option("--last-failed", "--lf", help="Run only tests that did not hold the last time.")]
AskAll = Annotated[bool, typer.Option("--all", help="Ask all questions again, also those that no change can have touched.")]
Repeat = Annotated[int | None, typer.Option(metavar="N", min=1, max=100, help="Ask each question N times, where the file does not say.")]
PassIf = Annotated[int | None, typer.Option(metavar="K", min=1, help="A test passes if K of its N answers hold [all].")]
Junit = Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit's XML, which CI systems show.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a self-contained page.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")]
Schema = Annotated[bool, typer.Option("--schema", help="Print the JSON schema of a file of expectations, for editors, and exit.")]
File = Annotated[Path, typer.Option("--file", metavar="FILE", help="With `add`: the file to add to; a new one is begun.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="With `add`: accept the answer without being asked.")]
FromChat = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER", help="With `add`: add the answers rated with a thumb up in `ramify serve`, whose folder it is; `-`: its own."
    ),
]
FromRun = Annotated[Path | None, typer.Option(metavar="RUN", help="With `add`: add the right answers of a run of `ramify eval`.")]


def run_tests_command(
    what: What = None, index: Indexes = None, model: ModelName = None, strategy: Strategy = None, selected: Selected = None,
    last_failed: LastFailed = False, ask_all: AskAll = False, repeat: Repeat = None, pass_if: PassIf = None, junit: Junit = None,
    html: Html = None, as_json: AsJson = False, schema: Schema = False, file: File = DEFAULT_FILE, yes: Yes = False,
    from_chat: FromChat = None, from_run: FromRun = None, base_url: BaseUrl = None, settings: Settings = None, preset: Preset = None,
    profile: Profile = None, filters: Filters = None, allow_pickle: AllowPickle = False,
) -> None:  # fmt: skip
    """Test answers over an index: ask what a change of the documents can touch, and show which hop of which answer changed."""
    given = list(what or ())
    if schema:
        from ramify.testing.expectations import Expectations

        return print_json(Expectations.model_json_schema())
    flags = {"model": model, "base_url": base_url, "preset": preset, "profile": profile}
    options = question_options(settings, index, allow_pickle, filters, **flags)
    if given[:1] == [ADD]:
        return _add(given[1:], file, from_chat, from_run, yes, strategy, settings, options)
    if len(given) > 1:
        raise UsageError(f"{given[1]!r} is a second file", "run one file of expectations at a time")
    for target in filter(None, (junit, html)):
        check_writable(target)
    path = Path(given[0]) if given else DEFAULT_FILE
    with err().status("loading …"):
        from ramify.testing.expectations import load_expectations
        from ramify.testing.reports import outcome_lines, summary_line, to_json, to_junit, to_page
        from ramify.testing.running import Outcome, TestRun
        from ramify.testing.stored_results import ResultsFile

    expectations, results = load_expectations(path), ResultsFile(path)
    expectations = expectations.model_copy(update={"repeat": expectations.repeat or repeat, "pass_if": expectations.pass_if or pass_if})
    results.keep_only({test.question for test in expectations.tests})
    run = TestRun(expectations, results, options, strategy, ask_all)
    tests = run.select(selected or "", last_failed)
    if expectations.tests and not tests and not last_failed:
        raise UsageError(f"no question contains {selected!r}", "give another text to -k")
    done: list[Outcome] = []

    def show(outcome: Outcome) -> None:
        done.append(outcome)
        if not as_json:
            for line in outcome_lines(outcome, len(done), len(tests)):
                say(line)

    run.run(tests, show)
    if as_json:
        print_json(to_json(done))
    else:
        say(summary_line(done, len(expectations.tests) - len(tests)))
    if junit is not None:
        write_atomically(to_junit(done, path.name), junit)
    if html is not None:
        write_atomically(to_page(done, path.name), html)
    if not all(outcome.holds for outcome in done):
        raise typer.Exit(1)


def _add(
    questions: Sequence[str], file: Path, chat: str | None, run: Path | None, yes: bool, strategy: str | None, settings: list[str] | None,
    options: dict[str, Any],
) -> None:  # fmt: skip
    """Add a question with the answer that a person accepts, or those of a chat or a run."""
    if len(questions) + (chat is not None) + (run is not None) != 1:
        raise UsageError("add takes one QUESTION, --from-chat or --from-run", 'write: ramify test add "QUESTION" --index INDEX')
    from ramify.testing.adding import expect_answer, expect_rated, expect_right
    from ramify.testing.expectations import append_expectations

    if run is not None:
        tests = expect_right(run)
    elif chat is not None:
        tests = expect_rated(str(cache_folder().absolute() / "serve") if chat == "-" else chat)
    else:
        answer = _ask(questions[0], strategy, options)
        if not (yes or typer.confirm("Is this right, and is it to be expected from now on?", err=True)):
            return note("not added")
        how = {"strategy": strategy, "settings": read_pairs(settings or [], "--set"), "filter": options.get("filter") or {}}
        tests = [expect_answer(questions[0], answer, **how)]
    added = append_expectations(file, tests)
    known = f", {len(tests) - added} there already" if added < len(tests) else ""
    say(one_line(f"{pluralize(added, 'question')} added to {file}{known}"))


def _ask(question: str, strategy: str | None, options: dict[str, Any]) -> str:
    """Ask a question, print its answer and tree, and return the answer."""
    from ramify.graphs.choice import choose_strategy
    from ramify.graphs.run import ask, failure_reason
    from ramify.studio.drawing.terminal import print_answer
    from ramify.tools.errors import ModelError

    with err().status("answering …"):
        result = ask(question, strategy or choose_strategy(options), **options)
    if problem := failure_reason(result):
        raise ModelError(problem, "ask again when the model can be reached")
    print_answer(result, out(), True)
    return result.answer


COMMAND = Command(run_tests_command, "Documents", after="inspect", resumes=True)
