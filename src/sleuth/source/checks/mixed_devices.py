"""Some things go to "cuda:1" by name and others to the first GPU by `.cuda()`."""

from __future__ import annotations

import ast
import re
from typing import Final

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.scopes import File

_NAMED: Final = re.compile(r"""['"]cuda:([1-9]\d*)['"]""")
# What makes `.cuda()` mean another GPU than the first, or spreads a model over several on purpose.
_CHOSEN: Final = re.compile(
    r"set_device|CUDA_VISIBLE_DEVICES|cuda\.device\(|cuda:0|DataParallel|device_ids|add_argument"
)


def file(file: File) -> Finding | None:
    if ".cuda()" not in file.text:
        return None
    named = set(_NAMED.findall(file.text))
    if len(named) != 1 or _CHOSEN.search(file.text):
        return None
    nodes = list(ast.walk(file.tree))
    by_name = next((node for node in nodes if _is_named(node)), None)
    by_default = next((node for node in nodes if _is_default(node)), None)
    if by_name is None or by_default is None:
        return None
    number = named.pop()
    return tell.found(
        "mixed-devices",
        file,
        node=by_default,
        title=f'.cuda() is the first GPU, other parts of the program are on "cuda:{number}"',
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(by_name, f'"cuda:{number}" is written here', file),
            tell.because(by_default, ".cuda() without a number means the current GPU, number 0", file),
        ],
        fixes=[Fix(f'one variable, device = torch.device("cuda:{number}"), and .to(device) everywhere')],
    )


def _is_named(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and bool(re.fullmatch(r"cuda:[1-9]\d*", node.value))
    )


def _is_default(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "cuda"
        and not node.args
        and not node.keywords
    )
