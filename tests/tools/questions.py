"""What the tests of the models ask, and the ground they start from."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from ramify.nodes.asking.ask import Answerer, current_model
from ramify.nodes.settings import Settings
from ramify.tools.models import named as models
from ramify.tools.models import servers

QUESTION = [SystemMessage("Answer in JSON."), HumanMessage("Who discovered polonium?")]
GOOD = {"answer": "Marie Curie", "confidence": 0.9}
NOWHERE = "http://127.0.0.1:9"


class Answered(BaseModel):
    answer: str
    confidence: float = Field(ge=0, le=1)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model looked up before, no key in the environment, no waiting between attempts."""
    models.clear_cache()
    monkeypatch.setattr(servers, "RETRY_PAUSES_S", (0.0, 0.0))
    for name in ("OLLAMA_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


def auto(**options: Any) -> Answerer:
    """Return what answers for the model "auto"."""
    return current_model(Settings(model="auto", **options))
