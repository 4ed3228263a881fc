"""What a prompt of the toolkit is filled with, and what the embedded model replies to it."""

from collections.abc import Mapping
from typing import Any

Slots = Mapping[str, Any]
"""Values by the name of their slot."""
Reply = dict[str, Any]
"""Values by the name of the reply's field."""
