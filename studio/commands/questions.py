"""ramify questions: propose questions about an index, for a person to edit and `ramify eval --questions` to ask."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.studio.console.options import BaseUrl, ModelName, names_in, options_of
from ramify.studio.console.streams import note, say
from ramify.tools.errors import UsageError
from ramify.tools.quoting import one_line, pluralize

IndexName = Annotated[
    str | None,
    typer.Argument(metavar="[INDEX]", help="Folder or address of the index, or demo; with --from-chat, where conversations are stored."),
]
FromChat = Annotated[
    bool, typer.Option("--from-chat", help="Take the questions whose answers were rated in `ramify serve`, of its own folder or INDEX.")
]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="File of questions, .jsonl or .csv; what is in it already is kept.")]
Count = Annotated[int, typer.Option("--n", "-n", metavar="N", min=1, help="Questions that the file is to have, as pluralize of each kind.")]
Kinds = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="Kinds: fact, two-hop, yes-no, how-to, unanswerable, overview (open, about everything). [all but overview; by the embedded "
        "model makes fact, yes-no, how-to]",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the passages drawn, and of model calls.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of the model's calls, such as num_ctx or temperature.")
]


def questions(
    file: Out, index: IndexName = None, from_chat: FromChat = False, count: Count = 100, model: ModelName = None, kinds: Kinds = None,
    seed: Seed = 0, base_url: BaseUrl = None, settings: Settings = None,
) -> None:  # fmt: skip
    """Propose questions about the documents of an index, in a file to be edited; an interrupted run resumes where it stopped."""
    if from_chat:
        return _from_chat(index, file)
    if index is None:
        raise UsageError("no index is named", "give its folder or address, or demo; or --from-chat")
    from ramify.evaluation.proposing import ProposalSettings, kinds_of, propose_questions
    from ramify.evaluation.question_file import QuestionFile
    from ramify.nodes.asking.ask import current_model
    from ramify.nodes.settings import is_embedded
    from ramify.studio.console.progress_bar import bar

    options = options_of(settings, model=model, base_url=base_url)
    if "seed" in options:
        raise UsageError("'seed' is given by --seed and by --set", "use only --seed")
    options["seed"] = seed
    found, kept = current_model(ProposalSettings.model_validate(options)), QuestionFile(file)
    wanted = kinds_of(found.name, names_in(kinds))
    for notice in found.notices:
        note(notice)
    if is_embedded(found.name):
        note("questions by rules, from definitions, records, instructions and headings: weaker than a language model's")
    if kept.rows:
        note(f"{pluralize(len(kept.rows), 'question')} in {file} stay as they are")
    with bar() as progress:
        made = propose_questions(index, kept, count, {**options, "model": found.name}, wanted, progress)
    for reason, number in made.dropped.most_common():
        note(f"dropped {number:,}: {reason}")
    if made.missing > 0:
        note(f"{made.missing:,} fewer than wanted: no more passages for them were found; another --seed draws others")
    told = f"{pluralize(made.made, 'question')} added: look through {file}, then `ramify eval --index {index} --questions {file} --out RUN`"
    say(one_line(told))


def _from_chat(memory: str | None, file: Path) -> None:
    from ramify.evaluation.load.own_questions import NEEDS_ANSWER
    from ramify.evaluation.question_file import QuestionFile, add_rated
    from ramify.tools.new_files import cache_folder

    kept = QuestionFile(file)
    made = add_rated(memory or str(cache_folder().absolute() / "serve"), kept)
    if unanswered := sum(bool(row.get(NEEDS_ANSWER)) and not row.get("answer") for row in kept.rows):
        note(
            f"{pluralize(unanswered, 'question')} rated down: write the right answers into {file} before `ramify eval --questions` takes it"
        )
    say(one_line(f"{pluralize(made, 'rated question')} added to {file}"))
