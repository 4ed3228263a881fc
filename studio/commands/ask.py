"""ramify ask: answer a question."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.studio.console.key_values import joined, read_pairs, readable
from ramify.studio.console.streams import err, fail, note, out
from ramify.tools.scrub import without_known

if TYPE_CHECKING:
    from ramify.graphs.result import Result

Asked = Annotated[str, typer.Argument(metavar="QUESTION", help="What to ask.", callback=readable)]
Strategy = Annotated[str, typer.Option(metavar="NAME", help="prune, tor, iterative, chain, naive, global or closed-book.")]
Where = Annotated[
    str | None,
    typer.Option("--index", metavar="DIR", help="Folder or address of the index; without it, the demo corpus."),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="auto, extractive, ollama:NAME, gguf:PATH, or a provider:model of LangChain. [auto]"),
]
BaseUrl = Annotated[
    list[str] | None,
    typer.Option("--base-url", metavar="URL", help="Address of the model's server (Ollama, vLLM, llama.cpp); repeatable, for several."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting or argument of the strategy: see `ramify settings STRATEGY`."),
]
ShowTree = Annotated[bool, typer.Option("--tree", help="Print the tree of sub-questions as well.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the answer and its tree to one self-contained page.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one object and nothing else.")]


def ask(
    question: Asked,
    strategy: Strategy = "prune",
    index: Where = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    settings: Settings = None,
    tree: ShowTree = False,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question, with citations and the tree of sub-questions that led to it."""
    options = joined(read_pairs(settings or [], "--set"), {"index": index, "model": model, "base_url": base_url})
    held: list[str] = []
    result = _silently(question, strategy, options) if as_json else _watched(question, strategy, options, tree, held)
    problem = _problem(result)
    for notice in held:
        if not problem or problem not in notice:
            note(notice)
    if html is not None:
        from ramify.studio.drawing.page import write_page

        write_page(result, html)
    _print(result, tree, as_json)
    if html is not None and not as_json:
        note(f"the page is in {html}")
    if problem:
        fail(problem)
        raise typer.Exit(1)


def _print(result: "Result", tree: bool, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(without_known(result.to_json()), ensure_ascii=False, indent=2))
        return
    from ramify.studio.drawing.terminal import show

    show(result, out(), tree)


def _silently(question: str, strategy: str, options: dict[str, Any]) -> "Result":
    from ramify.graphs.run import ask as run

    return run(question, strategy, **options)


def _problem(result: "Result") -> str:
    from ramify.graphs.result import could_not_ask

    return could_not_ask(result)


def _watched(question: str, strategy: str, options: dict[str, Any], tree: bool, held: list[str]) -> "Result":
    """Answer, telling notices as they come; those that may say why the question could not be asked are held back: an error says it."""
    with err().status("loading …"):
        from ramify.graphs.run import ask as run
        from ramify.studio.console.ceilings import most
        from ramify.studio.console.live_tree import Watching
        from ramify.studio.events import WARNING
        from ramify.tools.extractive import objection
    if tree:
        note(most(strategy, options))
    objected = objection(question)

    def tell(notice: str) -> None:
        if notice == objected or notice.startswith(WARNING):
            held.append(notice)
        else:
            note(notice)

    with Watching(err(), tell) as watching:
        return run(question, strategy, watching, **options)
