"""The valley as an index without a graph, as where a graph is built of it."""

from tests.tools.knowledge.conftest import folder as folder
from tests.tools.knowledge.conftest import plain as plain
