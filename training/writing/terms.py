"""Names of software, settings, commands, files and services, as technical documentation writes them."""

# ruff: noqa: E501  # tables

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from training.source import Document
from training.writing.names import Names, key
from training.writing.written import dealt

_KINDS: Final = {
    "setting": r"(?<![\w./$-])(?:[a-z]{3,}(?:[A-Z][a-z]+){1,3}|[a-z]{3,}(?:_[a-z]{2,}){1,3}|--[a-z]{3,}(?:-[a-z]+)*|[A-Z]{3,}(?:_[A-Z]{2,}){1,3})(?![\w./(-])",
    "command": r"(?<![\w./-])(?:(?:Get|Set|New|Add|Remove|Enable|Disable|Start|Stop|Import|Export|Invoke|Test)-[A-Z]\w+|az [a-z]+ [a-z]+|aws [a-z0-9]+ [a-z-]+"
               r"|kubectl [a-z]+|wsl --[a-z]+)(?![\w-])",
    "file": r"(?<![\w./\\-])[A-Za-z_][\w-]{2,}\.(?:conf|yaml|yml|ini|json|xml|config|exe|dll|cfg|log|inf|sys|h|cpp)(?!\w)",
    "software": r"(?<=[a-z,] )(?:Azure|Amazon|Windows|AWS|Microsoft|Visual|Exchange|Internet|Active|Power|SQL|Google|Red Hat)(?: [A-Z][\w+]*){1,3}(?= [a-z]|[,.])"
                r"|\b(?:Kubernetes|Prometheus|etcd|PowerShell|Docker|IIS|cert-manager|Grafana|PostgreSQL|MySQL|Nginx|OpenSSL|Helm|Cilium|Dapr|Hyper-V|WSL 2)\b",
    "service": r"(?<=the )(?:[A-Z][\w+]* ){1,2}(?:service|Service|agent|gateway|scheduler|controller|driver|endpoint)(?= [a-z]|[,.])",
}  # fmt: skip
_PATTERNS: Final = {kind: re.compile(pattern) for kind, pattern in _KINDS.items()}
_PLAIN: Final = ("command", "setting", "service", "file")


def terms(documents: Iterable[Document]) -> Names:
    """Collect the terms of documents by kind and by what they are for."""
    counts: Counter[tuple[str, str]] = Counter()
    for document in documents:
        for kind, pattern in _PATTERNS.items():
            counts.update({(kind, found): 1 for found in pattern.findall(document.text)})
    found: Names = {}
    for (kind, term), _ in sorted(counts.items()):
        if len(term) <= 40:
            name = f"the {term}" if kind == "service" else term
            found.setdefault((kind, dealt(key(name))), []).append(name)
    return found
