"""What the clients of model servers log, without keys: at INFO they write whole addresses, at DEBUG what was sent and came back."""

import logging
import traceback

from ramify.tools.scrub import scrub

CLIENTS = ("http", "openai", "ollama", "anthropic", "groq", "mistral", "google", "langchain", "urllib3", "aiohttp")
"""How the names of their loggers begin."""


def mask_logs() -> None:
    """Mask keys in what the clients that were imported by now log. A filter is no matter of a logger's children: each gets it."""
    for name in (*CLIENTS, *tuple(logging.root.manager.loggerDict)):
        if name.startswith(CLIENTS):
            logging.getLogger(name).addFilter(_mask)  # a second time it changes nothing


def _mask(record: logging.LogRecord) -> bool:
    """Mask the message, and the traceback that comes with it; a record without keys stays as it is."""
    try:
        told = record.getMessage()
    except (KeyError, TypeError, ValueError):  # of a message and arguments that do not fit logging tells itself, and goes on
        return True
    if (masked := scrub(told)) != told:
        record.msg, record.args = masked, ()
    if record.exc_info and record.exc_info[1]:
        trace = "".join(traceback.format_exception(record.exc_info[1])).rstrip("\n")
        if (masked := scrub(trace)) != trace:
            record.exc_info, record.exc_text = None, masked
    return True
