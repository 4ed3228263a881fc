"""Chat models by name: reached, limited, counted, and answering with objects.

* find: `named` (from a name to a model), `model` (the interface of all), `clients` (LangChain's), `gguf` (run in this process),
  `hub` (downloaded)
* a call: `structured_call`, `concurrency` (what its callers share), `server_pool` (several servers)
* tokens: `tokens` counts them, also by what servers report
* a reply: `reply_parsing` (also: confidence from log probabilities)
* a server: `servers` (its errors), `server_info` (what it reports of a model)
"""

from ramify.tools.models._model import Model, ModelOptions
from ramify.tools.models.named import clear_cache, find_best, resolve_model
from ramify.tools.models.reply_parsing import Structured

__all__ = ["Model", "ModelOptions", "Structured", "clear_cache", "find_best", "resolve_model"]
