"""`.cuda()` or "cuda" without ever asking whether there is a GPU."""

from __future__ import annotations

import ast
import re

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.scopes import File

_MOVES = re.compile(r"""\.cuda\(\)|(?:\.to|device)\(\s*['"]cuda(?::\d+)?['"]\s*\)|device\s*=\s*['"]cuda(?::\d+)?['"]""")
# Signs that somebody thought of machines without one, here or by an option.
_CARE = re.compile(
    r"is_available|no[_-]?cuda|use[_-]?(?:cuda|gpu)|device_count|args\.(?:cuda|gpu|device)|accelerat|"
    r"\bif .*(?:cuda|gpu)",
    re.I,
)


def file(file: File) -> Finding | None:
    text = file.text
    if not _MOVES.search(text) or _CARE.search(text) or ("__main__" not in text and ".backward()" not in text):
        return None
    first = next((node for node in ast.walk(file.tree) if _moves(node)), None)
    if first is None:
        return None
    return tell.found(
        "hard-coded-cuda",
        file,
        node=first,
        certainty="hint",
        severity="note",
        fixes=[
            Fix('device = torch.device("cuda" if torch.cuda.is_available() else "cpu"), and .to(device) everywhere')
        ],
    )


def _moves(node: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        return False
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and not node.args:
        return True
    return any(
        isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.startswith("cuda")
        for one in (*node.args, *(keyword.value for keyword in node.keywords))
    )
