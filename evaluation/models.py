"""Look the models of a run up, once, before anything is asked."""

from collections.abc import Callable, Sequence

from ramify.evaluation.variants import Variant
from ramify.graphs.strategies import configure
from ramify.nodes.asking.ask import current_model
from ramify.tools.models import forget

AUTO = "auto"


def with_models(wanted: Sequence[Variant], tell: Callable[[str], None]) -> tuple[list[Variant], str | None]:
    """Give the variants with models that are there, and the name of the first; blocking.

    "auto" becomes what it finds, so that the whole run, and whoever goes on with it, asks one model. ModelError where one is missing.
    """
    forget()
    found, names, notices = [], [], list[str]()
    for variant in wanted:
        settings = configure(variant.strategy, variant.options)[1]
        model = current_model(settings)
        names.append(model.name)
        notices += model.notices
        chosen = {"model": model.name} if settings.model == AUTO else {}
        found.append(variant.model_copy(update={"options": {**variant.options, **chosen}}))
    for notice in dict.fromkeys(notices):
        tell(notice)
    return found, next(iter(names), None)
