"""Reads expressions: every kind of expression of Python, turned into a value."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any, Final

from sleuth.source import batches, ranges
from sleuth.source.calls import Arguments, Calls
from sleuth.source.scopes import FunctionInfo
from sleuth.source.sites import Comparison, Site, Use
from sleuth.source.values import NOTHING, Value, constant, joined

_BINARY: Final = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
}
_FOLD: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
}
_TENSOR_ATTRIBUTES: Final = frozenset({"T", "mT", "H", "data", "grad", "real", "imag", "values", "at"})
_CLASS_OF_ATTRIBUTE: Final = {"shape": "attr:shape", "ndim": "number", "dtype": "dtype", "device": "device"}


class Expressions(Calls):
    """The part of the interpreter that understands expressions."""

    def evaluate(self, node: ast.expr) -> Value:
        reader = _READERS.get(node.__class__)
        return reader(self, node) if reader is not None else self.other(node)

    def other(self, node: ast.expr) -> Value:
        """An expression whose value says nothing to us; what is inside is still read."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child)
        return Value(node=node)

    def name(self, node: ast.Name) -> Value:
        found = self.lookup(node.id)
        if found is None:
            return Value("?", node, op="")
        if found.kind == "api" and self.listeners.wants_use(found.raw):
            self.listeners.hear_use(Use(node, found.api, found.raw, self.spot(), False))
        return found

    def constant(self, node: ast.Constant) -> Value:
        return constant(node.value, node)

    def attribute(self, node: ast.Attribute) -> Value:
        base = self.evaluate(node.value)
        kind, attr = base.kind, node.attr
        if kind == "api":
            made = self.member(base, attr, node)
            if self.listeners.wants_use(made.raw):
                self.listeners.hear_use(Use(node, made.api, made.raw, self.spot(), False))
            return made
        if kind in ("instance", "class", "module"):
            return self.attribute_of_object(node, base, attr)
        if kind == "package":
            found = base.attrs.get(attr)
            return (
                self.project.settle(found) if found is not None else Value("?", node, op=f"attr:{attr}", inputs=(base,))
            )
        if kind == "mapping":
            return base.attrs.get(attr) or Value(node=node, op=f"attr:{attr}", inputs=(base,))
        result = Value("?", node, op=f"attr:{attr}", inputs=(base,))
        if kind in ("tensor", "array"):
            result.unit = self.file
            if attr in _TENSOR_ATTRIBUTES:
                result.kind = kind
                result.lo, result.hi, result.dtype, result.device = base.lo, base.hi, base.dtype, base.device
                result.grad = False if attr in ("data", "grad") else base.grad
            elif attr == "dtype":
                result.kind, result.dtype = "dtype", base.dtype
            elif attr == "device":
                result.kind, result.device = "device", base.device or "of"
        elif base.op == "finfo" or base.api in ("torch.finfo", "numpy.finfo", "jax.numpy.finfo"):
            result.kind, result.op = "number", f"finfo:{attr}"
            result.lo = result.hi = ranges.of_finfo(base, attr)
        elif kind == "batch":
            result.op = "batch"
        if self.listeners.wants_attribute(attr):
            self.listeners.hear_attribute(Use(node, f"{kind}.{attr}", attr, self.spot(), False), base)
        return result

    def attribute_of_object(self, node: ast.Attribute, base: Value, attr: str) -> Value:
        held = base.attrs.get(attr)
        if held is not None:
            return held
        info = self.class_of(base)
        if info is not None:
            for one in info.lineage():
                if attr in one.attrs:
                    return one.attrs[attr]
            method = info.method(attr)
            if method is not None:
                if method.decorated_with("property"):
                    return self.follow(node, Value("function"), method, Arguments([], {}, False), base)
                made = Value("function", node, op="method", inputs=(base,))
                made.info = method
                return made
        if self.listeners.wants_attribute(attr):
            self.listeners.hear_attribute(Use(node, f"{base.kind}.{attr}", attr, self.spot(), False), base)
        return Value("?", node, op=f"attr:{attr}", inputs=(base,))

    def binary(self, node: ast.BinOp) -> Value:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        return self.operator(node, node.op, left, right)

    def operator(self, node: ast.AST, symbol: ast.operator, left: Value, right: Value) -> Value:
        operation = _BINARY.get(symbol.__class__, "")
        kind = _kind_of_both(left, right)
        folded = _folded(operation, left.const, right.const)
        if folded is not NOTHING:
            return constant(folded, node)
        if operation == "add" and left.kind == right.kind == "sequence":
            return _concatenated(node, left, right)
        if operation == "mul" and "sequence" in (left.kind, right.kind):
            return self.repeated(node, left, right)
        if not operation:
            made = Value(kind, node, op=f"operator:{symbol.__class__.__name__}", inputs=(left, right))
            return made
        result = self.result_of(operation, node, [left, right], {}, kind)
        result.unit = self.file
        result.device = (
            left.device
            if left.device == right.device or right.kind == "number"
            else right.device
            if left.kind == "number"
            else None
        )
        if self.listeners.wants("", operation):
            site = Site(node, "", operation, None, [left, right], {}, [left, right], result, self.spot(), False)
            self.listeners.hear(site)
        return result

    def repeated(self, node: ast.AST, left: Value, right: Value) -> Value:
        """`[layer] * 3`: the same objects, three times."""
        items = left if left.kind == "sequence" else right
        made = Value("sequence", node, op="repeat_list", inputs=(left, right))
        made.parts, made.exact = list(items.parts or []), False
        return made

    def unary(self, node: ast.UnaryOp) -> Value:
        inner = self.evaluate(node.operand)
        if isinstance(node.op, ast.USub):
            if inner.number() is not None:
                return constant(-inner.const, node)
            result = self.result_of("neg", node, [inner], {}, inner.kind)
            return result
        return Value(
            "tensor" if inner.kind == "tensor" else "?", node, op=f"unary:{node.op.__class__.__name__}", inputs=(inner,)
        )

    def boolean(self, node: ast.BoolOp) -> Value:
        values = [self.evaluate(value) for value in node.values]
        result = values[0]
        for other in values[1:]:
            result = joined(result, other, node)
        return result

    def compare(self, node: ast.Compare) -> Value:
        left = self.evaluate(node.left)
        kind = "?"
        inputs = [left]
        for symbol, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(comparator)
            inputs.append(right)
            if left.kind in ("tensor", "array") or right.kind in ("tensor", "array"):
                kind = left.kind if left.kind in ("tensor", "array") else right.kind
            if self.listeners.comparisons:
                self.listeners.hear_comparison(Comparison(node, symbol, left, right, self.spot()))
            left = right
        result = Value(kind if kind != "?" else "?", node, op="compare", inputs=tuple(inputs))
        result.lo, result.hi, result.grad = 0.0, 1.0, False
        return result

    def subscript(self, node: ast.Subscript) -> Value:
        base = self.evaluate(node.value)
        index = self.evaluate(node.slice)
        if base.kind in ("sequence", "module") and base.parts and base.exact and isinstance(index.const, int):
            inside = -len(base.parts) <= index.const < len(base.parts)
            if inside:
                return base.parts[index.const]
        if base.kind == "mapping" and isinstance(index.const, str):
            found = base.attrs.get(index.const)
            if found is not None:
                return found
        if base.kind in ("tensor", "array"):
            result = self.result_of("index", node, [base, index], {}, base.kind)
        else:
            result = Value("?", node, op="index", inputs=(base, index))
            if base.kind == "batch":
                result.kind, result.op = "tensor", "batch"
                result.inputs = (base, index)
                batches.describe(result)
            elif base.op == "attr:shape":
                result.kind = "number"
            else:
                result.lo, result.hi = (base.lo, base.hi) if base.kind == "?" else (None, None)
        if self.listeners.wants("", "index"):
            self.listeners.hear(
                Site(node, "", "index", base, [base, index], {}, [base, index], result, self.spot(), False)
            )
        return result

    def slice(self, node: ast.Slice) -> Value:
        made = Value("slice", node)
        made.parts = [
            self.evaluate(part) if part is not None else Value("none", const=None)
            for part in (node.lower, node.upper, node.step)
        ]
        return made

    def sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        made = Value("sequence", node, op="display")
        made.unit = self.file
        made.branch = self.branch
        made.loop = id(self.loops[-1]) if self.loops else 0
        parts: list[Value] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self.evaluate(element.value)
                if inner.parts is not None:
                    parts += inner.parts
                else:
                    made.inputs = (*made.inputs, inner)
                made.exact = made.exact and inner.parts is not None and inner.exact
                made.tail = inner.tail and inner.parts is not None
            else:
                parts.append(self.evaluate(element))
                made.tail = True
        made.parts = parts
        return made

    def mapping(self, node: ast.Dict) -> Value:
        made = Value("mapping", node, op="display")
        made.unit = self.file
        parts: list[Value] = []
        attrs: dict[str, Value] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.evaluate(item)
            parts.append(value)
            if key is None:
                made.exact = False
                continue
            word = self.evaluate(key)
            if isinstance(word.const, str):
                attrs[word.const] = value
        made.parts, made.attrs = parts, attrs
        return made

    def decided(self, test: ast.expr) -> bool | None:
        """What `x is None` surely gives for the arguments of the call being read; None where it may be either."""
        if not self.choosing or not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name):
            return None
        right = test.comparators[0]
        if (
            not isinstance(right, ast.Constant)
            or right.value is not None
            or not isinstance(test.ops[0], ast.Is | ast.IsNot)
        ):
            return None
        value = self.lookup(test.left.id)
        if value is None or value.kind in ("?", "pending"):
            return None
        return (value.kind == "none") == isinstance(test.ops[0], ast.Is)

    def conditional(self, node: ast.IfExp) -> Value:
        self.evaluate(node.test)
        chosen = self.decided(node.test)
        if chosen is not None:
            return self.evaluate(node.body if chosen else node.orelse)
        kept = self.tests
        self.tests = (*self.tests, node.test)
        value = joined(self.evaluate(node.body), self.evaluate(node.orelse), node)
        self.tests = kept
        return value

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        kept, loops, tests = dict(self.names), self.loops, self.tests
        self.generators(node.generators)
        made = Value("sequence", node, op="comprehension")
        made.unit = self.file
        made.parts, made.exact, made.tail = [self.evaluate(node.elt)], False, False
        self.names, self.loops, self.tests = kept, loops, tests
        return made

    def dict_comprehension(self, node: ast.DictComp) -> Value:
        kept, loops, tests = dict(self.names), self.loops, self.tests
        self.generators(node.generators)
        self.evaluate(node.key)
        made = Value("mapping", node, op="comprehension")
        made.unit = self.file
        made.parts, made.exact = [self.evaluate(node.value)], False
        self.names, self.loops, self.tests = kept, loops, tests
        return made

    def generators(self, generators: list[ast.comprehension]) -> None:
        for one in generators:
            source = self.evaluate(one.iter)
            self.loops = (*self.loops, one)
            self.bind_target(one.target, self.element(source, one.iter))
            for test in one.ifs:
                self.evaluate(test)
                self.tests = (*self.tests, test)

    def bind_target(self, target: ast.expr, value: Value) -> None:
        raise NotImplementedError

    def anonymous(self, node: ast.Lambda) -> Value:
        made = Value("function", node, op="lambda")
        made.info = FunctionInfo(node, self.file, None, self.surroundings())
        return made

    def surroundings(self) -> dict[str, Value]:
        """The names a function made here can see, besides the globals."""
        if self.function is None:
            return self.names
        return {**self.function.enclosing, **self.names}

    def walrus(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.bind_target(node.target, value)
        return value

    def joined_text(self, node: ast.JoinedStr) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.evaluate(part.value)
                if self.listeners.wants("format", ""):
                    self.listeners.hear(
                        Site(part, "format", "", None, [value], {}, [value], Value(), self.spot(), False)
                    )
        return Value("text", node)

    def awaited(self, node: ast.Await | ast.YieldFrom) -> Value:
        self.evaluate(node.value)
        return Value(node=node)

    def yielded(self, node: ast.Yield) -> Value:
        if node.value is not None:
            self.evaluate(node.value)
        return Value(node=node)


def _kind_of_both(left: Value, right: Value) -> str:
    kinds = {left.kind, right.kind}
    if "tensor" in kinds:
        return "tensor"
    if "array" in kinds:
        return "array"
    if "batch" in kinds:
        return "tensor"
    return "number" if kinds == {"number"} else "?"


def _concatenated(node: ast.AST, left: Value, right: Value) -> Value:
    made = Value("sequence", node, op="display")
    made.parts = [*(left.parts or []), *(right.parts or [])]
    made.exact = left.exact and right.exact and left.parts is not None and right.parts is not None
    made.tail = right.tail and bool(right.parts)
    return made


def _folded(operation: str, left: Any, right: Any) -> Any:
    """The number two literals give; NOTHING where it is none, or would be immense."""
    fold = _FOLD.get(operation)
    if fold is None or not isinstance(left, int | float) or not isinstance(right, int | float):
        return NOTHING
    if operation == "pow" and (abs(left) > 1e6 or abs(right) > 400):
        return NOTHING
    try:
        result = fold(left, right)
    except (ArithmeticError, ValueError):
        return NOTHING
    fits = isinstance(result, int | float) and (isinstance(result, float) or abs(result) < 1e300)
    return result if fits and not (isinstance(result, float) and math.isnan(result)) else NOTHING


_READERS: Final[dict[type, Callable[[Any, Any], Value]]] = {
    ast.Name: Expressions.name,
    ast.Constant: Expressions.constant,
    ast.Attribute: Expressions.attribute,
    ast.Call: Expressions.call,
    ast.BinOp: Expressions.binary,
    ast.UnaryOp: Expressions.unary,
    ast.BoolOp: Expressions.boolean,
    ast.Compare: Expressions.compare,
    ast.Subscript: Expressions.subscript,
    ast.List: Expressions.sequence,
    ast.Tuple: Expressions.sequence,
    ast.Set: Expressions.sequence,
    ast.Dict: Expressions.mapping,
    ast.IfExp: Expressions.conditional,
    ast.ListComp: Expressions.comprehension,
    ast.SetComp: Expressions.comprehension,
    ast.GeneratorExp: Expressions.comprehension,
    ast.DictComp: Expressions.dict_comprehension,
    ast.Lambda: Expressions.anonymous,
    ast.NamedExpr: Expressions.walrus,
    ast.JoinedStr: Expressions.joined_text,
    ast.Await: Expressions.awaited,
    ast.YieldFrom: Expressions.awaited,
    ast.Yield: Expressions.yielded,
    ast.Slice: Expressions.slice,
}
