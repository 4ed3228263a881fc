"""A model for agents of the OpenAI Agents SDK: it calls the research tool with the question, then repeats what came back."""

import json
from collections.abc import AsyncIterator
from typing import Any

from agents import ModelResponse, Usage
from agents.models.interface import Model
from openai.types.responses import Response, ResponseCompletedEvent, ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText


class ScriptedByOpenAI(Model):
    """Call the tool for each message of the user's that was not answered yet."""

    def __init__(self, *given: Any) -> None:
        pass

    async def get_response(self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *args: Any, **kwargs: Any) -> Any:
        return ModelResponse([_reply(input, tools)], Usage(), None)

    async def stream_response(
        self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *args: Any, **kwargs: Any
    ) -> AsyncIterator[Any]:
        fields: dict[str, Any] = {"created_at": 0.0, "model": "scripted", "object": "response", "parallel_tool_calls": False}
        reply = Response(id="1", output=[_reply(input, tools)], tool_choice="auto", tools=[], **fields)
        yield ResponseCompletedEvent(response=reply, sequence_number=0, type="response.completed")


def _reply(given: Any, tools: Any) -> Any:
    """Return a call of the tool, or its result as a message."""
    [tool] = [tool.name for tool in tools if tool.name.startswith("research")]
    items = [given] if isinstance(given, str) else given
    if isinstance(last := items[-1], dict) and last.get("type") == "function_call_output":
        text = last["output"] if isinstance(last["output"], str) else "".join(part["text"] for part in last["output"])
        part = ResponseOutputText(text=text, type="output_text", annotations=[])
        return ResponseOutputMessage(id="2", content=[part], role="assistant", status="completed", type="message")
    arguments = json.dumps({"question": last if isinstance(last, str) else last["content"]})
    return ResponseFunctionToolCall(arguments=arguments, call_id=str(len(items)), name=tool, type="function_call")
