"""What a prompt of the toolkit is filled with, and what is replied to it."""

from collections.abc import Mapping
from typing import Any

Slots = Mapping[str, Any]
Reply = dict[str, Any]
