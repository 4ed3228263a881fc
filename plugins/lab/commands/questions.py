"""ramify questions: propose questions about an index, to be edited, and asked by `ramify eval --questions`."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.studio.commands import Command
from ramify.studio.console.options import BaseUrl, ModelName, merge_options, split_names
from ramify.studio.console.streams import note, say
from ramify.tools.errors import UsageError
from ramify.tools.quoting import one_line, pluralize

IndexName = Annotated[
    str | None,
    typer.Argument(metavar="[INDEX]", help="Folder or address of the index, or demo; with --from-chat, where conversations are stored."),
]
FromChat = Annotated[
    bool, typer.Option("--from-chat", help="Use the questions whose answers were rated in `ramify serve`, from its own folder or INDEX.")
]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="File of questions, .jsonl or .csv; existing questions are kept.")]
Count = Annotated[
    int, typer.Option("--n", "-n", metavar="N", min=1, help="Number of questions that the file will have, the same number of each kind.")
]
Kinds = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="Kinds: fact, two-hop, yes-no, how-to, unanswerable, overview (open, about everything). [all but overview; the embedded "
        "model makes fact, yes-no, how-to]",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the passages drawn, and of model calls.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of the model's calls, such as num_ctx or temperature.")
]


def questions_command(
    file: Out, index: IndexName = None, from_chat: FromChat = False, count: Count = 100, model: ModelName = None, kinds: Kinds = None,
    seed: Seed = 0, base_url: BaseUrl = None, settings: Settings = None,
) -> None:  # fmt: skip
    """Propose questions about the documents of an index, in a file to be edited; an interrupted run resumes where it stopped."""
    if from_chat:
        return _from_chat(index, file)
    if index is None:
        raise UsageError("no INDEX is given", "give its folder or address, or demo; or --from-chat")
    from ramify.lab.proposing import ProposalSettings, propose_questions, select_kinds
    from ramify.lab.question_file import QuestionFile
    from ramify.nodes.asking.ask import current_model
    from ramify.nodes.settings import AUTO, is_embedded
    from ramify.studio.console.progress_bar import progress_bar

    options = merge_options(settings, model=model, base_url=base_url)
    if "seed" in options:
        raise UsageError("'seed' is given by --seed and by --set", "use only --seed")
    options["seed"] = seed
    model_used, question_file = current_model(ProposalSettings.model_validate(options)), QuestionFile(file)
    question_kinds = select_kinds(model_used.name, split_names(kinds))
    for notice in model_used.notices:
        note(notice)
    if is_embedded(model_used.name):
        note("questions by rules, from definitions, records, instructions and headings: weaker than a language model's")
    if question_file.rows:
        note(f"{pluralize(len(question_file.rows), 'question')} in {file} are kept unchanged")
    chosen = {"model": model_used.name} if options.get("model", AUTO) == AUTO else {}
    with progress_bar() as progress:
        proposals = propose_questions(index, question_file, count, {**options, **chosen}, question_kinds, progress)
    for reason, number in proposals.dropped.most_common():
        note(f"dropped {number:,}: {reason}")
    if proposals.missing > 0:
        note(f"{proposals.missing:,} fewer than requested: no more suitable passages were found; another --seed draws others")
    summary = (
        f"{pluralize(proposals.added, 'question')} added: review {file}, then `ramify eval --index {index} --questions {file} --out RUN`"
    )
    say(one_line(summary))


def _from_chat(memory: str | None, file: Path) -> None:
    from ramify.lab.load.own_questions import NEEDS_ANSWER
    from ramify.lab.question_file import QuestionFile, add_rated_questions
    from ramify.tools.new_files import cache_folder

    question_file = QuestionFile(file)
    added = add_rated_questions(memory or str(cache_folder().absolute() / "serve"), question_file)
    if unanswered := sum(bool(row.get(NEEDS_ANSWER)) and not row.get("answer") for row in question_file.rows):
        note(f"{pluralize(unanswered, 'question')} rated down: add the correct answers to {file} before you run `ramify eval --questions`")
    say(one_line(f"{pluralize(added, 'rated question')} added to {file}"))


COMMAND = Command(questions_command, "Measure", after="report", resumes=True)
