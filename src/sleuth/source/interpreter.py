"""Reads statements in their order, following values through names, attributes, branches and the project's functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, Final

from sleuth.source import batches, freezing, names
from sleuth.source.expressions import Expressions
from sleuth.source.scopes import ClassInfo, FunctionInfo
from sleuth.source.sites import Assignment, Discarded, Site, Trace, Use
from sleuth.source.state import FUEL, Reading
from sleuth.source.values import Value, joined, partly_replaced

_VERSION_WORDS: Final = re.compile(r"version|hasattr|_available|\bPY[23]\b|VERSION")
_FALLBACK_ERRORS: Final = frozenset(
    {"ImportError", "ModuleNotFoundError", "AttributeError", "TypeError", "Exception", "BaseException", "NameError"}
)


class Interpreter(Expressions):
    """Reads one file of the project: its body first, then every function and class by itself."""

    def read_body(self) -> None:
        """The file's own statements, which also fill its globals."""
        self.names = self.file.globals
        self.execute(self.file.tree.body)

    def read_all(self) -> None:
        self.read_body()
        self.finish_root(None)
        for cls in list(self.file.classes):
            self.read_class(cls)
        for function in list(self.file.functions):
            if function.cls is None and function not in self.readings:
                self.read_root(function, None)
        self.read_inner_functions()

    def read_inner_functions(self) -> None:
        """Functions made inside others and called by nobody we see: the loss that a factory returns."""
        visited = {id(function.node) for function in (*self.visits, *self.readings)}
        for function in self.file.functions:  # grows while it is read
            if function.cls is None and id(function.node) not in visited:
                visited.add(id(function.node))
                self.read_root(function, None)

    def read_class(self, cls: ClassInfo) -> None:
        """A class by itself: what __init__ makes of `self`, then each method with such a self."""
        instance = Value("instance", cls.node, op="self", api=cls.name)
        instance.info, instance.unit = cls, self.file
        instance.own_attrs()
        if cls.is_module():
            instance.grad = True
        initialiser = cls.method("__init__")
        if initialiser is not None:
            self.read_root(initialiser, instance)
        self.listeners.hear_class(cls, instance)
        for name, method in cls.methods.items():
            if name != "__init__" and method not in self.readings:
                self.read_root(method, None if method.decorated_with("staticmethod") else instance)

    def read_root(self, function: FunctionInfo, bound: Value | None) -> None:
        if function.cls is not None and bound is not None and function.decorated_with("classmethod"):
            bound = Value("class", function.node)
            bound.info = function.cls
        self.steps, self.fuel = [], FUEL
        attrs = dict(bound.attrs) if bound is not None and function.name != "__init__" else None
        self.stack, self.calls, self.loops, self.withs = (), (), (), ()
        self.branch, self.guards, self.tests = (), (), ()
        result = self.run_root(function, bound)
        self.readings[function] = Reading(result, self.steps, 0)
        if bound is not None and attrs is not None:
            bound.attrs = attrs
        self.finish_root(function)

    def run_root(self, function: FunctionInfo, bound: Value | None) -> Value:
        kept = self.file
        try:
            return self.run_function(function, None, None, bound)
        finally:
            self.file = kept

    def finish_root(self, function: FunctionInfo | None) -> None:
        self.listeners.hear_trace(Trace(self.file, function, self.steps))

    # Statements

    def execute(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if self.ended:
                return
            self.fuel -= 1
            reader = _READERS.get(statement.__class__)
            if reader is not None:
                reader(self, statement)

    def expression(self, node: ast.Expr) -> None:
        value = self.evaluate(node.value)
        if self.listeners.discarded:
            self.listeners.hear_discarded(Discarded(node, value, self.spot()))

    def assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        if self.loops and value.op == "add" and _adds_to_itself(node):
            self.note("augmented", node, value.inputs[0], [value.inputs[1]], value)
        for target in node.targets:
            self.bind_target(target, value, node)

    def assign_annotated(self, node: ast.AnnAssign) -> None:
        value = Value("?", node, op="declared") if node.value is None else self.evaluate(node.value)
        if value.kind == "?" and not value.op.startswith(("api:", "call")):
            self.annotate(value, node.annotation)
        self.bind_target(node.target, value, node)

    def assign_augmented(self, node: ast.AugAssign) -> None:
        target: Any = node.target
        current = self.evaluate(target)
        operand = self.evaluate(node.value)
        result = self.operator(node, node.op, current, operand)
        if current.kind == "sequence" and result.kind == "sequence":
            result.exact = result.exact and not self.loops
            result.tail = result.tail and not self.loops
        if self.loops and operand.kind in ("tensor", "?"):
            self.note("augmented", node, current, [operand], result)
        if self.listeners.wants("augmented", ""):
            self.tell_augmented(node, current, operand, result)
        self.bind_target(target, result, node)

    def tell_augmented(self, node: ast.AugAssign, current: Value, operand: Value, result: Value) -> None:
        both = [current, operand]
        self.listeners.hear(Site(node, "augmented", "", current, both, {}, both, result, self.spot(), False))

    def bind_target(self, target: ast.expr, value: Value, statement: ast.AST | None = None) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Attribute):
            self.bind_attribute(target, value, statement or target)
        elif isinstance(target, ast.Subscript):
            base = self.evaluate(target.value)
            index = self.evaluate(target.slice)
            if base.kind == "mapping" and isinstance(index.const, str):
                base.own_attrs()[index.const] = value
                if base.parts is not None:
                    base.parts.append(value)
            elif base.kind == "sequence":
                base.exact = False
            elif base.kind == "module" and base.parts is not None:
                self.note_layer(statement or target, base, value)
                place = index.const if isinstance(index.const, int) else None
                if place is not None and base.exact and -len(base.parts) <= place < len(base.parts):
                    base.parts[place] = value
                else:
                    base.exact = base.tail = False
            elif base.op.startswith("attr:") and base.inputs and base.inputs[0].kind in ("module", "instance"):
                if value.kind in ("module", "instance"):
                    self.note_layer(statement or target, base.inputs[0], value)
            elif base.kind in ("tensor", "array"):
                self.rebind(target.value, partly_replaced(base, value, target))
            if self.listeners.assignments:
                where = statement or target
                self.listeners.hear_assignment(Assignment(where, target, base, "", value, self.spot(), index))
        elif isinstance(target, ast.Tuple | ast.List):
            self.unpack(target, value, statement)
        elif isinstance(target, ast.Starred):
            self.bind_target(target.value, Value("sequence", target), statement)

    def bind_attribute(self, target: ast.Attribute, value: Value, statement: ast.AST) -> None:
        base = self.evaluate(target.value)
        if target.attr == "requires_grad":
            flag = value.const if isinstance(value.const, bool) and self.surely_runs() else None
            freezing.set_on_parameter(base, flag)
            network = freezing.network_of(base) or base
            self.note("freeze" if flag is False else "thaw", statement, network, [], value)
        if base.kind in ("instance", "module", "class"):
            attrs = base.own_attrs()
            old = attrs.get(target.attr)
            if self.loops:
                self.bound_in[id(base), target.attr] = self.loops
            # Conditional is what stands in a branch that the object itself was not made in.
            if len(self.branch) > len(base.branch) and self.function is not None:
                other = old if old is not None else Value("?", target)
                attrs[target.attr] = joined(other, value, target) if old is not value else value
            else:
                attrs[target.attr] = value
        if value.kind in ("module", "instance") and base.kind in ("module", "instance"):
            self.note_layer(statement, base, value)
        if target.attr in ("grad", "trainable"):
            self.note(target.attr, statement, base, [value], value)
        if self.listeners.assignments:
            self.listeners.hear_assignment(Assignment(statement, target, base, target.attr, value, self.spot()))

    def note_layer(self, statement: ast.AST, network: Value, layer: Value) -> None:
        """A layer that is put into a network which is already made."""
        if self.function is None or self.function.name not in ("__init__", "build", "setup"):
            self.note("layer", statement, network, [layer], layer)

    def unpack(self, target: ast.Tuple | ast.List, value: Value, statement: ast.AST | None) -> None:
        starred = any(isinstance(element, ast.Starred) for element in target.elts)
        fits = value.parts is not None and value.exact and len(value.parts) == len(target.elts) and not starred
        for index, element in enumerate(target.elts):
            if fits and value.parts is not None:
                self.bind_target(element, value.parts[index], statement)
            else:
                self.bind_target(element, self.item(value, index, element), statement)

    def item(self, value: Value, index: int, node: ast.AST) -> Value:
        made = Value("?", node, op=f"item:{index}", inputs=(value,))
        made.unit = self.file
        if value.kind == "batch":
            made.kind, made.op = "tensor", "batch"
            made.inputs = (value, Value("number", const=index))
            batches.describe(made)
        elif value.kind in ("tensor", "key"):
            made.kind, made.grad = value.kind, value.grad
            if value.op.rpartition(":")[2].removeprefix("torch.") in ("unbind", "chunk", "split"):
                made.shape, made.dtype = value.shape, value.dtype
            if value.op in ("max", "min", "topk") and index == 1:
                made.op, made.grad = "argmax", False
        elif value.op == "attr:shape":
            made.kind = "number"
        elif value.op == "api:torch.utils.data.random_split":
            made.kind = "dataset"
        return made

    def import_module(self, node: ast.Import) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            dotted = alias.name if alias.asname else alias.name.partition(".")[0]
            self.names[bound] = self.imported(dotted, alias)
            if self.listeners.wants_use(alias.name):
                self.listeners.hear_use(Use(alias, names.canonical(alias.name), alias.name, self.spot(), False))

    def import_from(self, node: ast.ImportFrom) -> None:
        source = self.project.absolute(self.file, node.module or "", node.level)
        for alias in node.names:
            if alias.name == "*":
                self.import_star(source, alias)
                continue
            dotted = f"{source}.{alias.name}" if source else alias.name
            self.names[alias.asname or alias.name] = self.imported(dotted, alias)
            if self.listeners.wants_use(dotted):
                self.listeners.hear_use(Use(alias, names.canonical(dotted), dotted, self.spot(), False))

    def imported(self, dotted: str, node: ast.AST) -> Value:
        root = dotted.partition(".")[0]
        if root in names.ROOTS and not self.project.owns(root, self.file):
            made = Value("api", node, api=names.canonical(dotted))
            made.raw, made.unit = dotted, self.file
            made.dtype = names.dtype_of(made.api)
            if made.api in names.CONSTANTS:
                made.const = names.CONSTANTS[made.api]
            return made
        if not self.project.has(dotted, self.file):
            return Value("?", node, op=f"import:{dotted}")
        made = Value("pending", node, op=f"import:{dotted}")
        made.raw, made.unit = dotted, self.file
        return made

    def import_star(self, source: str, node: ast.AST) -> None:
        root = source.partition(".")[0]
        if root in names.ROOTS and not self.project.owns(root, self.file):
            for name in _STAR_NAMES.get(names.canonical(source), ()):
                self.names.setdefault(name, self.imported(f"{source}.{name}", node))
            return
        for name, value in self.project.globals_of(source, self.file).items():
            if not name.startswith("_"):
                self.names[name] = value

    def define_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, cls: ClassInfo | None = None) -> None:
        info = FunctionInfo(node, self.file, cls, {} if self.function is None and cls is None else self.surroundings())
        info.decorators = [self.evaluate(decorator) for decorator in node.decorator_list]
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.evaluate(default)
        self.file.functions.append(info)
        if cls is not None:
            cls.methods[node.name] = info
            return
        made = Value("function", node)
        made.info, made.unit = info, self.file
        self.names[node.name] = made
        for decorator in info.decorators if self.loops else ():
            if self.listeners.wants(f"@{decorator.api}", ""):
                self.listeners.hear(
                    Site(node, f"@{decorator.api}", "", None, [made], {}, [made], made, self.spot(), False)
                )

    def define_class(self, node: ast.ClassDef) -> None:
        info = ClassInfo(node, self.file)
        info.bases = [self.evaluate(base) for base in node.bases if not isinstance(base, ast.Starred)]
        for decorator in node.decorator_list:
            self.evaluate(decorator)
        self.file.classes.append(info)
        kept = self.names
        self.names = dict(kept) if self.function is not None else {}
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self.define_function(statement, info)
            else:
                self.execute([statement])
                self.declare_field(statement)
        made_here = {name: value for name, value in self.names.items() if kept.get(name) is not value}
        self.names = kept
        info.attrs = made_here
        made = Value("class", node)
        made.info, made.unit = info, self.file
        self.names[node.name] = made

    def declare_field(self, statement: ast.stmt) -> None:
        """`size: int = 8` in a class is the default of a field: an instance may hold another value."""
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            field = Value("?", statement.target, op="field")
            self.annotate(field, statement.annotation)
            self.names[statement.target.id] = field

    def give_back(self, node: ast.Return) -> None:
        if node.value is not None:
            self.returned.append(self.evaluate(node.value))
        self.ended = True

    def leave(self, node: ast.Raise | ast.Break | ast.Continue) -> None:
        if isinstance(node, ast.Raise) and node.exc is not None:
            self.evaluate(node.exc)
        self.ended = True

    def branch_on(self, node: ast.If) -> None:
        self.condition(node)
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            # Names for annotations; nothing of it runs, and a package's star imports would load all of it.
            self.execute([one for one in node.body if not _is_star(one)])
            self.execute(node.orelse)
            return
        chosen = self.decided(node.test)
        if chosen is not None:
            self.execute(node.body if chosen else node.orelse)
            return
        kept_tests, kept_branch, kept_guards = self.tests, self.branch, self.guards
        if self.tests_a_version(node.test):
            self.guards = (*self.guards, "version")
        before = dict(self.names)
        self.tests = (*kept_tests, node.test)
        ends = []
        states = []
        for arm, body in (("body", node.body), ("else", node.orelse)):
            self.branch = (*kept_branch, (id(node), arm))
            self.execute(body)
            ends.append(self.ended)
            states.append(dict(self.names))
            self.ended = False
            self.restore(before)
        self.tests, self.branch, self.guards = kept_tests, kept_branch, kept_guards
        self.ended = all(ends)
        if ends[0] and not ends[1]:
            self.restore(states[1])
        elif ends[1] and not ends[0]:
            self.restore(states[0])
        else:
            self.restore(self.merged(states[0], states[1], node))
        if any(ends) and not all(ends):
            self.tests = (*self.tests, node.test)

    def tests_a_version(self, test: ast.expr) -> bool:
        """Does a condition ask for the version of something, or what it has?"""
        line = self.file.lines[test.lineno - 1] if test.lineno <= len(self.file.lines) else ""
        return _VERSION_WORDS.search(line) is not None and "cuda" not in line

    def merged(self, one: dict[str, Value], other: dict[str, Value], node: ast.AST) -> dict[str, Value]:
        result = dict(one)
        for name, value in other.items():
            mine = one.get(name)
            if mine is not value:
                result[name] = value if mine is None else joined(mine, value, node)
        return result

    def restore(self, state: dict[str, Value]) -> None:
        """In place: a file's names are also its globals."""
        self.names.clear()
        self.names.update(state)

    def loop_for(self, node: ast.For | ast.AsyncFor) -> None:
        source = self.evaluate(node.iter)
        kept = self.loops
        self.loops = (*kept, node)
        before = dict(self.names)
        self.bind_target(node.target, self.element(source, node.iter), node)
        if source.kind in ("loader", "iterator") or isinstance(source.node, ast.GeneratorExp):
            self.note("loop", node, source, [source], source)
        if self.listeners.wants("for", ""):
            self.tell_loop(node, source)
        self.run_loop(node, before, kept)

    def tell_loop(self, node: ast.For | ast.AsyncFor, source: Value) -> None:
        self.listeners.hear(Site(node, "for", "", source, [source], {}, [source], Value(), self.spot(), False))

    def condition(self, node: ast.If | ast.While) -> None:
        """The test of an `if` or `while`."""
        value = self.evaluate(node.test)
        if self.listeners.wants("if", ""):
            self.listeners.hear(Site(node.test, "if", "", None, [value], {}, [value], value, self.spot(), False))

    def loop_while(self, node: ast.While) -> None:
        self.condition(node)
        kept = self.loops
        self.loops = (*kept, node)
        self.run_loop(node, dict(self.names), kept)

    def run_loop(self, node: Any, before: dict[str, Value], kept: tuple[ast.AST, ...]) -> None:
        kept_tests, start = self.tests, len(self.steps)
        self.execute(node.body)
        self.ended = False
        self.loops, self.tests = kept, kept_tests
        if any(step.act == "backward" for step in self.steps[start:]):
            self.note_carried(node, before, self.names)
        self.restore(self.merged(before, dict(self.names), node))
        self.execute(node.orelse)

    def note_carried(self, loop: ast.AST, before: dict[str, Value], after: dict[str, Value]) -> None:
        """Write down what one round of a loop hands to the next with its gradients."""
        for name, value in list(after.items()):
            old = before.get(name)
            if value.grad and old is not None and old is not value:
                self.note("carried", loop, old, [value], value)

    def with_block(self, node: ast.With | ast.AsyncWith) -> None:
        kept = self.withs
        for item in node.items:
            value = self.evaluate(item.context_expr)
            if item.optional_vars is not None:
                self.bind_target(item.optional_vars, value, node)
            self.withs = (*self.withs, value)
        self.execute(node.body)
        self.withs = kept

    def try_block(self, node: Any) -> None:
        kept_guards, kept_branch = self.guards, self.branch
        caught = _caught(node.handlers)
        if caught & _FALLBACK_ERRORS:
            self.guards = (*kept_guards, "try")
        before = dict(self.names)
        self.branch = (*kept_branch, (id(node), "try"))
        self.execute([*node.body, *node.orelse])
        after, ended = dict(self.names), self.ended
        for handler in node.handlers:
            self.restore(self.merged(before, after, node))
            self.ended = False
            self.guards = (*kept_guards, "except") if caught & _FALLBACK_ERRORS else kept_guards
            self.branch = (*kept_branch, (id(node), "except"))
            if handler.name:
                self.names[handler.name] = Value("?", handler)
            self.execute(handler.body)
            if not self.ended:
                after = dict(self.names) if ended else self.merged(after, dict(self.names), node)
                ended = False
        self.restore(after)
        self.ended = ended
        self.guards, self.branch = kept_guards, kept_branch
        if node.finalbody:
            self.ended = False
            self.execute(node.finalbody)
            self.ended = self.ended or ended

    def match_block(self, node: Any) -> None:
        self.evaluate(node.subject)
        before = dict(self.names)
        kept_branch = self.branch
        outcome: dict[str, Value] | None = None
        for index, case in enumerate(node.cases):
            self.restore(before)
            self.branch = (*kept_branch, (id(node), str(index)))
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    self.names[name] = Value("?", part)
            if case.guard is not None:
                self.evaluate(case.guard)
            self.execute(case.body)
            if not self.ended:
                outcome = dict(self.names) if outcome is None else self.merged(outcome, dict(self.names), node)
            self.ended = False
        self.branch = kept_branch
        self.restore(before if outcome is None else self.merged(before, outcome, node))

    def delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.names.pop(target.id, None)

    def check_claim(self, node: ast.Assert) -> None:
        self.evaluate(node.test)
        self.tests = (*self.tests, node.test)


_READERS: Final[dict[type, Callable[[Any, Any], None]]] = {
    ast.Expr: Interpreter.expression,
    ast.Assign: Interpreter.assign,
    ast.AnnAssign: Interpreter.assign_annotated,
    ast.AugAssign: Interpreter.assign_augmented,
    ast.Import: Interpreter.import_module,
    ast.ImportFrom: Interpreter.import_from,
    ast.FunctionDef: Interpreter.define_function,
    ast.AsyncFunctionDef: Interpreter.define_function,
    ast.ClassDef: Interpreter.define_class,
    ast.Return: Interpreter.give_back,
    ast.Raise: Interpreter.leave,
    ast.Break: Interpreter.leave,
    ast.Continue: Interpreter.leave,
    ast.If: Interpreter.branch_on,
    ast.For: Interpreter.loop_for,
    ast.AsyncFor: Interpreter.loop_for,
    ast.While: Interpreter.loop_while,
    ast.With: Interpreter.with_block,
    ast.AsyncWith: Interpreter.with_block,
    ast.Try: Interpreter.try_block,
    ast.Match: Interpreter.match_block,
    ast.Delete: Interpreter.delete,
    ast.Assert: Interpreter.check_claim,
}
if hasattr(ast, "TryStar"):
    _READERS[ast.TryStar] = Interpreter.try_block


def _adds_to_itself(node: ast.Assign) -> bool:
    """`total = total + loss`?"""
    target, value = node.targets[0], node.value
    return (
        isinstance(target, ast.Name)
        and isinstance(value, ast.BinOp)
        and isinstance(value.left, ast.Name)
        and value.left.id == target.id
    )


def _is_star(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"


def _caught(handlers: list[ast.ExceptHandler]) -> set[str]:
    found: set[str] = set()
    for handler in handlers:
        if handler.type is None:
            found.add("BaseException")
            continue
        for node in ast.walk(handler.type):
            if isinstance(node, ast.Name):
                found.add(node.id)
    return found


# What `from torch.nn import *` brings, as far as we follow it.
_LAYER_NAMES: Final = (
    "Module Linear Conv1d Conv2d Conv3d Softmax LogSoftmax Sigmoid ReLU Dropout BatchNorm1d BatchNorm2d LayerNorm "
    "Sequential "
    "ModuleList ModuleDict Parameter Embedding LSTM GRU Flatten CrossEntropyLoss BCELoss BCEWithLogitsLoss NLLLoss "
    "MSELoss Tanh "
    "LeakyReLU GELU MaxPool2d Identity functional"
).split()
_KERAS_NAMES: Final = (
    "Dense Conv1D Conv2D Conv3D Flatten Dropout BatchNormalization MaxPooling2D Activation Input LSTM GRU "
    "Embedding Softmax "
    "GlobalAveragePooling2D Reshape Concatenate"
).split()
_STAR_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "torch.nn": tuple(_LAYER_NAMES),
    "keras.layers": tuple(_KERAS_NAMES),
    "keras.models": ("Sequential", "Model"),
    "torch": ("tensor", "Tensor", "nn", "optim", "zeros", "ones", "randn", "log", "exp", "sqrt", "no_grad", "device"),
}
