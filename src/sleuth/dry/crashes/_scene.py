"""The frames in which the program crashed: which variables held which tensors, which layer was at work."""

from __future__ import annotations

import ast
import linecache
from collections import UserDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history
from sleuth.positions import span_of
from sleuth.program import is_users, line_of

# A list longer than this holds a data set rather than a batch.
_MOST_PARTS = 64


@dataclass(frozen=True, slots=True)
class Spot:
    """A frame of the traceback and the instruction it had come to."""

    frame: FrameType
    instruction: int

    @property
    def code(self) -> CodeType:
        return self.frame.f_code

    @property
    def values(self) -> dict[str, Any]:
        return self.frame.f_locals


def spots(crash: Crash) -> list[Spot]:
    """Every frame on the way to the crash, the outermost first."""
    found = []
    traceback = crash.error.__traceback__
    while traceback is not None:
        found.append(Spot(traceback.tb_frame, traceback.tb_lasti))
        traceback = traceback.tb_next
    return found


def users_spots(crash: Crash) -> list[Spot]:
    return [spot for spot in spots(crash) if is_users(spot.code.co_filename)]


def layer(crash: Crash) -> tuple[Any, dict[str, Any]] | None:
    """The innermost layer of torch's own that was at work, and what the frames of its methods held."""
    from torch import nn

    found = [spot for spot in spots(crash) if isinstance(spot.values.get("self"), nn.Module)]
    if not found or not type(found[-1].values["self"]).__module__.startswith("torch.nn."):
        return None
    module = found[-1].values["self"]
    held: dict[str, Any] = {}
    for spot in found:
        if spot.values["self"] is module:
            held.update(spot.values)
    return module, held


def roots(crash: Crash) -> list[Any]:
    """The models of the program: those that were called, and those whose methods were under way."""
    from torch import nn

    under_way = [spot.values.get("self") for spot in spots(crash)]
    found: list[Any] = []
    for module in [*crash.stage.models, *under_way]:
        if isinstance(module, nn.Module) and not any(module is one for root in found for one in root.modules()):
            found.append(module)
    return found


def name_of(crash: Crash, module: Any) -> str:
    """Its dotted name in the model it belongs to, "" where it has none."""
    for root in roots(crash):
        for name, one in root.named_modules():
            if one is module:
                return str(name)
    return ""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a frame of the user's spells a tensor: `y`, `self.mask`, `batch["label"]`."""

    text: str
    spot: Spot


def spelling(crash: Crash, birth: Birth) -> Spelling | None:
    """What the user calls the tensor, in the innermost frame that has a name for it."""
    for spot in reversed(users_spots(crash)):
        for name, value in spot.values.items():
            text = None if name.startswith("__") else _spelled(crash, name, value, birth)
            if text is not None:
                return Spelling(text, spot)
    return None


def nearest_name(crash: Crash, birth: Birth) -> str:
    """What the user calls the tensor, or what it is only a copy of elsewhere; "" where it has no name."""
    for one in _history.trunk(birth):
        named = spelling(crash, one)
        if named is not None:
            return named.text
        if one.operation not in _history.TRANSPARENT:
            break
    return ""


def _spelled(crash: Crash, name: str, value: Any, birth: Birth) -> str | None:
    if _is(crash, value, birth):
        return name
    parts: Iterable[tuple[str, Any]] = ()
    if isinstance(value, dict | UserDict):
        parts = ((f"{name}[{key!r}]", one) for key, one in value.items())
    elif isinstance(value, list | tuple):
        parts = ((f"{name}[{index}]", one) for index, one in enumerate(value))
    elif name == "self":
        held = getattr(value, "__dict__", {}).items()
        texts = (_spelled(crash, f"self.{attribute}", one, birth) for attribute, one in held)
        return next((text for text in texts if text is not None), None)
    return next((text for text, one in islice(parts, _MOST_PARTS) if _is(crash, one, birth)), None)


def _is(crash: Crash, value: Any, birth: Birth) -> bool:
    from torch import Tensor

    return isinstance(value, Tensor) and crash.stage.births[value] is birth


def expression(code: CodeType, instruction: int) -> ast.expr | None:
    """The expression an instruction belongs to, as exactly as can be known."""
    tree = parsed(code.co_filename)
    if tree is None:
        return None
    wanted = span_of(code, instruction)
    if wanted is not None:
        return next((node for node in _expressions(tree) if _extent(node) == wanted), None)
    line = line_of(code, instruction)
    calls = [node for node in _expressions(tree) if isinstance(node, ast.Call) and node.lineno == line]
    return calls[0] if len(calls) == 1 else None


def _extent(node: ast.expr) -> tuple[int | None, int | None, int | None, int | None]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _expressions(tree: ast.AST) -> Iterator[ast.expr]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.expr))


def text(filename: str) -> str:
    return "".join(linecache.getlines(filename))


@lru_cache(maxsize=64)
def parsed(filename: str) -> ast.Module | None:
    try:
        return ast.parse(text(filename))
    except SyntaxError:
        return None


def function_around(filename: str, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The innermost function of the file that this line is in."""
    tree = parsed(filename)
    around = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno, default=None)
