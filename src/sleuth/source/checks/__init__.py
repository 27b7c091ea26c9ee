"""What `sleuth check` looks for: one file a diagnosis, found by its name. There is no list to edit.

A check module is named after its diagnosis (`log_of_softmax.py` is `log-of-softmax`) and says what it waits for:

    OPERATIONS = ("log",)      and  operation(site: Site)       an operation, in every framework's spelling
    CALLS = ("torch.load", "optimizer.step", "*.backward", "torch.nn.CrossEntropyLoss()")
                               and  call(site: Site)            a call by name: of a framework, of a method by its
                                                                receiver's kind, of any receiver, of an object
    USES = ("torch.cuda.amp",) and  use(use: Use)               a framework's name with that prefix (as imported), read
    ATTRIBUTES = ("volatile",) and  attribute(use: Use, base: Value)
    assignment(a: Assignment), comparison(c: Comparison), discarded(d: Discarded)
    trace(trace: Trace)        all acts of training (backward, step, zero_grad, eval …) of a script or function
    klass(cls: ClassInfo, instance: Value)      a class, and `self` as __init__ left it
    function(info: FunctionInfo), file(file: File)

Each gives a Finding (made by `sleuth.source.tell.found`), several, or None. A check asks the values it is shown for
facts; it never follows the flow of the program itself. A check that tells a special case of others names their
diagnoses in REFINES: said at the same place, only the special case is kept.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from types import ModuleType

_FOLDER = os.path.dirname(__file__)


@cache
def names() -> tuple[str, ...]:
    """Every diagnosis `sleuth check` can give, sorted."""
    found = (name[:-3] for name in os.listdir(_FOLDER) if name.endswith(".py") and not name.startswith("_"))
    return tuple(sorted(name.replace("_", "-") for name in found))


@cache
def refined() -> dict[str, tuple[str, ...]]:
    """The diagnoses of which a diagnosis is a special case."""
    return {name: check.REFINES for name, check in all_checks() if hasattr(check, "REFINES")}


@cache
def all_checks() -> tuple[tuple[str, ModuleType], ...]:
    """The diagnoses and their checks, sorted by name."""
    return tuple((name, importlib.import_module(f"{__name__}.{name.replace('-', '_')}")) for name in names())
