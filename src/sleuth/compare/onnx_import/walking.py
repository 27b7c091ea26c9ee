"""Through an ONNX graph, node by node; functions are written out where they are called."""

from __future__ import annotations

from typing import Any

import onnx

from sleuth.compare.onnx_import.building import Builder, Traced
from sleuth.compare.onnx_import.operations import TRANSLATIONS, Step, as_torch, read_attributes
from sleuth.compare.onnx_import.origins import origin
from sleuth.compare.side import CannotCompare


class Walk:
    """Translates graphs into one builder; `graph` puts each value into the given ones by its name."""

    def __init__(self, builder: Builder, model: Any, folder: str = "") -> None:
        self._builder = builder
        self._folder = folder
        self._functions = {(one.domain, one.name): one for one in model.functions}
        self._opsets = {one.domain or "ai.onnx": one.version for one in model.opset_import}
        # The attributes and versions of the function that is being written out.
        self._frame: tuple[dict[str, Any], dict[str, int]] = ({}, self._opsets)
        # Where the node comes from that calls it.
        self._caller: dict[str, Any] = {}

    def graph(self, graph: Any, values: dict[str, Any]) -> None:
        """The whole model; what no later node takes is let go, so that not all numbers are held at once."""
        last = {name: place for place, node in enumerate(graph.node) for name in _taken(node)}
        kept = {one.name for one in graph.output}
        for place, node in enumerate(graph.node):
            self._nodes([node], values, {}, self._opsets)
            for name in {*_taken(node), *node.output}:
                if last.get(name, place) <= place and name not in kept:
                    values.pop(name, None)

    def inner(self, graph: Any, around: dict[str, Any], inputs: list[Any]) -> list[Any]:
        """A subgraph's results: the branch of an If, one turn of a Loop."""
        values = dict(around)
        for one in graph.initializer:
            values[one.name] = self._builder.constant(as_torch(one, self._folder), one.name)
        values.update(zip([one.name for one in graph.input], inputs, strict=False))
        given = dict(values)
        self._nodes(graph.node, values, *self._frame)
        return self._made([values[one.name] for one in graph.output], given)

    def _nodes(self, nodes: Any, values: dict[str, Any], given: dict[str, Any], opsets: dict[str, int]) -> None:
        outer, self._frame = self._frame, (given, opsets)
        for node in nodes:
            results = self._node(node, values, given, opsets)
            for name, result in zip(node.output, results, strict=False):
                if name:
                    if isinstance(result, Traced):
                        self._builder.name(result, name)
                    values[name] = result
        self._frame = outer

    def _node(self, node: Any, values: dict[str, Any], given: dict[str, Any], opsets: dict[str, int]) -> list[Any]:
        function = self._functions.get((node.domain, node.op_type))
        if function is not None:
            return self._function(
                function, node, values, given, {one.domain or "ai.onnx": one.version for one in function.opset_import}
            )
        opset = opsets.get("ai.onnx", 1)
        step = Step(
            node.op_type,
            node.name,
            [values[name] if name else None for name in node.input],
            list(node.output),
            opset,
            read_attributes(node.attribute, given),
            values,
            self._builder,
            self,
        )
        translation = TRANSLATIONS.get(_full_name(node))
        if translation is None:
            return self._by_definition(node, step, values, opset)
        self._builder.begin(
            next((name for name in node.output if name), node.op_type), {**self._caller, **origin(node)}
        )
        result = self._translated(translation, step)
        if result is NotImplemented:
            return self._by_definition(node, step, values, opset)
        return result if isinstance(result, list) else [result]

    def _translated(self, translation: Any, step: Step) -> Any:
        try:
            return translation(self._builder, step)
        except CannotCompare:
            raise
        except NotImplementedError:
            raise step.refuse("on this type of number") from None
        except (RuntimeError, IndexError, ValueError, TypeError, KeyError) as problem:
            first = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
            where = f" ({step.name})" if step.name else ""
            raise CannotCompare(
                f"the ONNX operation {step.op}{where} cannot be computed on this input: {first}"
            ) from None

    def _function(
        self, function: Any, node: Any, values: dict[str, Any], given: dict[str, Any], opsets: dict[str, int]
    ) -> list[Any]:
        attributes = {**read_attributes(function.attribute_proto), **read_attributes(node.attribute, given)}
        names = list(node.input) + [""] * len(function.input)
        inputs = {inner: values.get(outer) for inner, outer in zip(function.input, names, strict=False)}
        inside = dict(inputs)
        outer, self._caller = self._caller, {**self._caller, **origin(node)}
        self._nodes(function.node, inside, attributes, opsets)
        self._caller = outer
        return self._made([inside.get(name) for name in function.output], inputs)

    def _made(self, results: list[Any], given: dict[str, Any]) -> list[Any]:
        """Results from within, which take the names that they have outside; unless they came from there."""
        known = {id(value) for value in given.values()}
        for result in results:
            if isinstance(result, Traced) and id(result) not in known:
                self._builder.unname(result)
        return results

    def _by_definition(self, node: Any, step: Step, values: dict[str, Any], opset: int) -> list[Any]:
        """An operation that ONNX defines by others."""
        node = _resolved(node, step)
        body = _definition(node, step, opset)
        if body is None:
            raise CannotCompare(
                f"the model uses the ONNX operation {_full_name(node)}, which has no translation to PyTorch"
            )
        return self._function(body, node, values, {}, {"ai.onnx": opset})


def _full_name(node: Any) -> str:
    return str(node.op_type) if node.domain in ("", "ai.onnx") else f"{node.domain}::{node.op_type}"


def _taken(node: Any) -> set[str]:
    """The names of what it takes, its subgraphs too."""
    found = set(node.input)
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            for inner in graph.node:
                found |= _taken(inner)
            found |= {one.name for one in graph.output}
    return found


def _resolved(node: Any, step: Step) -> Any:
    """With attributes of its own in place of those that refer to a function's."""
    plain = onnx.NodeProto()
    plain.CopyFrom(node)
    del plain.attribute[:]
    plain.attribute.extend(onnx.helper.make_attribute(name, value) for name, value in step.attributes.items())
    return plain


def _definition(node: Any, step: Step, opset: int) -> Any:
    try:
        schema = onnx.defs.get_schema(node.op_type, opset, node.domain)
    except onnx.defs.SchemaError:
        return None
    if schema.has_function:
        return schema.function_body
    if not schema.has_context_dependent_function:
        return None
    types = [_type(value) for value in step.inputs]
    body = onnx.FunctionProto()
    body.ParseFromString(schema.get_context_dependent_function(node.SerializeToString(), types))
    return body


def _type(value: Any) -> bytes:
    if not isinstance(value, Traced):
        return b""
    kind = onnx.helper.np_dtype_to_tensor_dtype(
        value.example[:0].numpy().dtype if value.rank else value.example.numpy().dtype
    )
    encoded: bytes = onnx.helper.make_tensor_type_proto(kind, value.shape).SerializeToString()
    return encoded
