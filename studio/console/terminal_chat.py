"""The chat in the terminal: questions, and commands with a leading slash."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from rich.text import Text

from ramify.graphs.conversation import Conversation, load_threads
from ramify.graphs.run import Result, blocking
from ramify.graphs.strategies import configure, load_strategies
from ramify.studio.console.answering import LiveTree, terminal_reviewer
from ramify.studio.console.options import read_pairs
from ramify.studio.console.streams import err, fail, note, out, say
from ramify.studio.drawing.page import write_page
from ramify.studio.drawing.phrases import understood_as
from ramify.studio.drawing.terminal import citation_heading, print_answer, render_tree
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.quoting import one_line
from ramify.tools.search.searcher import check_index
from ramify.tools.user_input import check_text, expand_path

CHAT_HELP = """Ask a question; a follow-up may refer to earlier turns (and who was her father?). Ctrl-C stops an answer.
  /tree             draw the tree of the last answer
  /sources          show the sources of the last answer in full
  /strategy NAME    switch to another strategy; without NAME, list them
  /set KEY=VALUE    change a setting; /set alone lists what was changed; `ramify settings STRATEGY` lists them all
  /html FILE        write the last answer and its tree to one page
  /new              start a new conversation
  /threads          list the conversations stored in --memory
  /quit             quit; also quit, exit, Ctrl-D, and Ctrl-C while no answer is in progress"""

QUIT_WORDS = ("quit", "exit")
"""Words that quit without a slash."""
CHAT_COMMANDS = ("help", "tree", "sources", "strategy", "set", "html", "new", "threads", "quit")


class TerminalChat:
    """A chat that processes lines of input; an error ends a turn, not the conversation."""

    def __init__(self, strategy: str, options: dict[str, Any], tree: bool, memory: str | None = None, thread: str | None = None) -> None:
        _, settings = configure(strategy, options)  # raise for an invalid option or a missing index before the first question
        check_index(settings.index)
        self.strategy, self.options, self.tree = strategy, options, tree
        self.is_finished = False
        self._conversation = Conversation(memory, thread)
        self._last: Result | None = None
        self._printed_notices: set[str] = set()

    def recall(self) -> None:
        """Print the state of a stored thread, and resume an interrupted question."""
        conversation = self._conversation
        if conversation.memory is None:
            return
        interrupted = conversation.recall()
        answered = conversation.turns
        progress = f", {answered:,} {'question' if answered == 1 else 'questions'} answered so far" if answered else ""
        note(f"this conversation is stored as {conversation.thread!r}{progress}; --thread {conversation.thread} resumes it")
        if interrupted:
            self.strategy = conversation.strategy or self.strategy
            note(f"resuming the interrupted question: {one_line(interrupted)}")
            with self._report_errors():
                self._print_result(self._run_with_tree(conversation.resume))

    def process_line(self, line: str) -> None:
        """Answer a question or run a command."""
        with self._report_errors():
            line = line.strip()
            if line.startswith("/"):
                name, _, rest = line[1:].partition(" ")
                self._run_command(name, rest.strip())
            elif line.casefold() in QUIT_WORDS:
                self.is_finished = True
            elif line:
                question = check_text(line)
                result = self._run_with_tree(partial(self._conversation.ask, question))
                if note_text := understood_as(question, result.question):
                    note(note_text)
                self._print_result(result)

    def _run_with_tree(self, run: Callable[..., Result]) -> Result:
        """Run a question with its growing tree on stderr."""
        with LiveTree(err(), self._print_notice) as live_tree:
            return run(self.strategy, live_tree, terminal_reviewer(self.strategy, self.options, live_tree), **self.options)

    @contextmanager
    def _report_errors(self) -> Iterator[None]:
        """Print errors and interruptions, and continue."""
        try:
            yield
        except RamifyError as error:
            fail(error)
        except KeyboardInterrupt:
            resume_hint = "the next chat on this thread resumes it, unless you ask another question"
            note(f"stopped: {resume_hint if self._conversation.memory else 'the question is not part of the conversation'}")

    def _print_result(self, result: Result) -> None:
        self._last = result
        print_answer(result, out(), self.tree)
        out().print()

    def _print_notice(self, notice: str) -> None:
        """Print each notice once per conversation."""
        if notice not in self._printed_notices:
            self._printed_notices.add(notice)
            note(notice)

    def _last_result(self) -> Result:
        if self._last is None:
            raise UsageError("nothing has been answered yet", "ask a question first")
        return self._last

    def _run_command(self, name: str, rest: str) -> None:
        """Run a command; raise UsageError for an unknown one."""
        match name:
            case "help":
                out().print(Text(CHAT_HELP))
            case "tree":
                out().print(render_tree(self._last_result().tree))
            case "sources":
                result = self._last_result()
                for number, citation in enumerate(result.citations, 1):
                    out().print(citation_heading(number, citation, citation.mark), Text(one_line(citation.text)), sep="\n")
            case "strategy" if not rest:
                note(f"using {self.strategy}; there are {', '.join(load_strategies())}")
            case "strategy":
                configure(rest, self.options)
                self.strategy = rest
                note(f"using {rest} from now on")
            case "set":
                options = {**self.options, **read_pairs([rest] if rest else [], "/set")}
                configure(self.strategy, options)
                self.options = options
                note(", ".join(f"{key}={value}" for key, value in options.items()) or "no settings changed")
            case "html":
                if not rest:
                    raise UsageError("/html names no file", "write it as /html answer.html")
                write_page(self._last_result(), expand_path(rest))
                note(f"the page is in {rest}")
            case "new":
                memory = self._conversation.memory
                self._conversation, self._last = Conversation(memory), None
                stored_as = "" if memory is None else f", stored as {self._conversation.thread!r}"
                note(f"a new conversation starts with the next question{stored_as}")
            case "threads":
                if self._conversation.memory is None:
                    remedy = "start the chat with --memory postgresql://HOST/DATABASE or sqlite:FILE"
                    raise UsageError("no conversations are stored", remedy)
                list_threads(self._conversation.memory)
            case "quit":
                self.is_finished = True
            case _:
                raise UsageError(f"unknown command /{name}", f"use one of {', '.join('/' + known for known in CHAT_COMMANDS)}")


def list_threads(memory: str) -> None:
    """Print the stored conversations, the latest first."""
    for thread in blocking(load_threads(memory)):
        turns = f"{thread.turns:,} {'turn' if thread.turns == 1 else 'turns'}"
        say(one_line(f"{thread.name}  {thread.asked}  {turns}, {thread.strategy}: {thread.first}"))
