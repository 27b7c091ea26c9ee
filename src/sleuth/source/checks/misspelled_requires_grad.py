"""`require_grad`, `required_grad` …: a misspelled attribute, which Python simply creates."""

from __future__ import annotations

import ast
from typing import Final

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Assignment, Site
from sleuth.source.values import Value

_WRONG: Final = frozenset(
    "require_grad required_grad requires_gradient require_gradient requiere_grad requires_grads require_grads "
    "reguires_grad requires_gard requires_gad require_gradients requires_gradients requiresgrad requires_Grad "
    "requries_grad requres_grad requred_grad needs_grad_ requires_grd request_grad requests_grad".split()
)
_RIGHT: Final = "requires_grad"
_MAKE_TENSORS = ("tensor", "zeros", "ones", "empty", "full", "rand", "randn", "arange", "eye", "as_tensor")
OPERATIONS = _MAKE_TENSORS
CALLS = (*(f"*.{name}_" for name in sorted(_WRONG)), "torch.nn.Parameter", "torch.autograd.Variable")


def assignment(a: Assignment) -> Finding | None:
    if a.attribute not in _WRONG or not isinstance(a.value.const, bool) or _is_the_users_own(a):
        return None
    target = a.target
    edit = _renamed(a, target)
    return tell.found(
        "misspelled-requires-grad",
        a,
        title=f"{a.attribute} is no attribute of tensors: nothing is {'unfrozen' if a.value.const else 'frozen'}",
        fixes=[Fix(f"write {_RIGHT}", (edit,), safe=True)],
    )


def _is_the_users_own(a: Assignment) -> bool:
    """Set on an object of the project, or read somewhere in the file: then it is a name of theirs."""
    if a.base.kind in ("instance", "mapping", "class") or (
        isinstance(a.target.value, ast.Name) and a.target.value.id == "self"
    ):
        return True
    text = a.spot.file.text
    return text.count(f".{a.attribute}") > _times_assigned(text, a.attribute)


def _times_assigned(text: str, name: str) -> int:
    return sum(text.count(f".{name}{space}={more}") for space in (" ", "") for more in (" ", "T", "F"))


def _renamed(a: Assignment, target: ast.Attribute) -> Edit:
    file = a.spot.file
    _, (line, column) = file.span(target)
    return Edit(file.shown, line, column - len(a.attribute), line, column, _RIGHT)


def operation(site: Site) -> Finding | None:
    return _keyword(site) if site.name.startswith("torch.") else None


def call(site: Site) -> Finding | None:
    if site.name.startswith("torch."):
        return _keyword(site)
    wrong = site.name.rpartition(".")[2]
    receiver: Value | None = site.receiver
    if (
        receiver is not None
        and receiver.kind == "instance"
        and receiver.info is not None
        and receiver.info.method(wrong)
    ):
        return None
    file = site.spot.file
    _, (line, column) = file.span(site.node.func)
    edit = Edit(file.shown, line, column - len(wrong), line, column, f"{_RIGHT}_")
    return tell.found(
        "misspelled-requires-grad",
        site,
        title=f"tensors and modules have no method {wrong}",
        fixes=[Fix(f"write {_RIGHT}_", (edit,), safe=True)],
    )


def _keyword(site: Site) -> Finding | None:
    wrong = next((keyword for keyword in getattr(site.node, "keywords", ()) if keyword.arg in _WRONG), None)
    if wrong is None or site.star:
        return None
    file = site.spot.file
    (line, column) = wrong.lineno, file.column(wrong.lineno, wrong.col_offset)
    edit = Edit(file.shown, line, column, line, column + len(wrong.arg), _RIGHT)
    return tell.found(
        "misspelled-requires-grad",
        site,
        title=f"{site.name} has no argument {wrong.arg}",
        fixes=[Fix(f"write {_RIGHT}", (edit,), safe=True)],
    )
