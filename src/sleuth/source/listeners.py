"""Brings what the interpreter sees to the checks that asked for it, and gathers what they find."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from sleuth.findings import Finding
from sleuth.source.scopes import ClassInfo, File, FunctionInfo
from sleuth.source.sites import Assignment, Comparison, Discarded, Site, Trace, Use
from sleuth.source.values import Value

Found = Finding | Iterable[Finding] | None
Listener = Callable[..., Found]


class Listeners:
    """The checks of one examination, sorted by what they wait for."""

    def __init__(self, checks: Iterable[tuple[str, ModuleType]]) -> None:
        self.findings: list[Finding] = []
        self.by_operation: dict[str, list[Listener]] = {}
        self.by_call: dict[str, list[Listener]] = {}
        self.by_method: dict[str, list[Listener]] = {}
        self.uses: list[tuple[tuple[str, ...], Listener]] = []
        self.by_attribute: dict[str, list[Listener]] = {}
        self.assignments: list[Listener] = []
        self.comparisons: list[Listener] = []
        self.discarded: list[Listener] = []
        self.traces: list[Listener] = []
        self.classes: list[Listener] = []
        self.functions: list[Listener] = []
        self.files: list[Listener] = []
        self.broken: dict[Listener, str] = {}
        for _, module in checks:
            self._add(module)
        self._prefixes = tuple({prefix for prefixes, _ in self.uses for prefix in prefixes})
        self._wanted_uses: dict[str, bool] = {}
        self._wanted: dict[tuple[str, str], bool] = {}

    def for_one_file(self) -> Listeners:
        """The same checks, nothing found yet."""
        fresh = copy.copy(self)
        fresh.findings, fresh.broken = [], {}
        return fresh

    def _add(self, check: ModuleType) -> None:
        for name in getattr(check, "OPERATIONS", ()):
            self.by_operation.setdefault(name, []).append(check.operation)
        for name in getattr(check, "CALLS", ()):
            if name.startswith("*."):
                self.by_method.setdefault(name[2:], []).append(check.call)
            else:
                self.by_call.setdefault(name, []).append(check.call)
        if hasattr(check, "USES"):
            self.uses.append((tuple(check.USES), check.use))
        for name in getattr(check, "ATTRIBUTES", ()):
            self.by_attribute.setdefault(name, []).append(check.attribute)
        for kind, gathered in (
            ("assignment", self.assignments),
            ("comparison", self.comparisons),
            ("discarded", self.discarded),
            ("trace", self.traces),
            ("klass", self.classes),
            ("function", self.functions),
            ("file", self.files),
        ):
            if callable(getattr(check, kind, None)) and getattr(check, kind).__module__ == check.__name__:
                gathered.append(getattr(check, kind))

    def wants(self, name: str, operation: str) -> bool:
        key = (name, operation)
        wanted = self._wanted.get(key)
        if wanted is None:
            wanted = self._wanted[key] = (
                operation in self.by_operation
                or name in self.by_call
                or (bool(name) and name.rpartition(".")[2] in self.by_method)
            )
        return wanted

    def wants_use(self, raw: str) -> bool:
        wanted = self._wanted_uses.get(raw)
        if wanted is None:
            wanted = self._wanted_uses[raw] = raw.startswith(self._prefixes) if self._prefixes else False
        return wanted

    def wants_attribute(self, name: str) -> bool:
        return name in self.by_attribute

    def hear(self, site: Site) -> None:
        for listener in self.by_operation.get(site.op, ()) if site.op else ():
            self._ask(listener, site)
        for listener in self.by_call.get(site.name, ()):
            self._ask(listener, site)
        for listener in self.by_method.get(site.name.rpartition(".")[2], ()) if site.name else ():
            self._ask(listener, site)

    def hear_use(self, use: Use) -> None:
        for prefixes, listener in self.uses:
            if use.raw.startswith(prefixes):
                self._ask(listener, use)

    def hear_attribute(self, use: Use, base: Value) -> None:
        for listener in self.by_attribute[use.raw]:
            self._ask(listener, use, base)

    def hear_assignment(self, assignment: Assignment) -> None:
        for listener in self.assignments:
            self._ask(listener, assignment)

    def hear_comparison(self, comparison: Comparison) -> None:
        for listener in self.comparisons:
            self._ask(listener, comparison)

    def hear_discarded(self, discarded: Discarded) -> None:
        for listener in self.discarded:
            self._ask(listener, discarded)

    def hear_trace(self, trace: Trace) -> None:
        for listener in self.traces if trace.steps else ():
            self._ask(listener, trace)

    def hear_class(self, cls: ClassInfo, instance: Value) -> None:
        for listener in self.classes:
            self._ask(listener, cls, instance)

    def hear_file(self, file: File) -> None:
        for listener in self.functions:
            for function in file.functions:
                self._ask(listener, function)
        for listener in self.files:
            self._ask(listener, file)

    def _ask(self, listener: Listener, *matter: Any) -> None:
        spot = getattr(matter[0], "spot", None)
        if listener in self.broken or (spot is not None and spot.withs and spot.expects_failure):
            return
        try:
            found = listener(*matter)
            if found is None:
                return
            self.findings += [found] if isinstance(found, Finding) else list(found)
        except Exception as error:
            # A check that throws is switched off for this file; the others go on.
            if os.environ.get("SLEUTH_DEBUG", "0") not in ("", "0"):
                raise
            self.broken[listener] = f"{listener.__module__}: {type(error).__name__}: {error}"


SILENT = Listeners(())
__all__ = ["SILENT", "Found", "FunctionInfo", "Listeners"]
