"""The model that is believed: a graph of PyTorch operations, in float64 for the truth and float32 for its noise."""

from __future__ import annotations

import inspect
import operator
import re
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, fx

from sleuth.compare.plain_graph import plain
from sleuth.compare.shelf import Shelf
from sleuth.compare.side import CannotCompare
from sleuth.compare.sides.quietly import quietly
from sleuth.compare.values import Array, Batch, Captured, Value
from sleuth.findings import Place
from sleuth.program import is_users, place_at

Override = Callable[["Call"], Any]
_SEVERAL = frozenset(
    {"lstm", "gru", "rnn_tanh", "rnn_relu", "native_layer_norm", "native_group_norm", "max_pool2d_with_indices"}
)
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@dataclass(frozen=True, slots=True)
class Call:
    """One operation about to be computed: its arguments by the names of PyTorch's own schema."""

    node: str
    op: str
    target: Any
    arguments: Mapping[str, Any]

    def again(self, /, **changed: Any) -> Any:
        """Compute it, with some arguments changed."""
        if self.op == "input":
            return changed.get("value", self.arguments["value"])
        arguments = {**self.arguments, **changed}
        if isinstance(self.target, torch._ops.OpOverload):
            return self.target(**arguments)
        return self.target(*arguments.values())


class Reference:
    """A graph whose nodes can be asked for their values, and be computed otherwise than they are (`Override`)."""

    def __init__(self, graph: fx.GraphModule) -> None:
        self.graph = plain(graph)
        self.nodes = {node.name: node for node in graph.graph.nodes}
        self.order = {name: position for position, name in enumerate(self.nodes)}
        self.names = [node.name for node in graph.graph.nodes if node.op in ("placeholder", "call_function")]
        self.outputs = _flat(next(node for node in graph.graph.nodes if node.op == "output").args)
        self._weights: dict[tuple[str, torch.dtype | None], Any] = {}

    @classmethod
    def of(
        cls, model: torch.nn.Module, arguments: tuple[Any, ...], named: Mapping[str, Any] | None = None
    ) -> Reference:
        """Of a module, as it acts on these arguments."""
        try:
            with quietly():
                program = torch.export.export(model, arguments, dict(named or {}), strict=False)
        except Exception as problem:  # whatever the user's forward raises, and all that torch.export does
            return cls(_as_it_ran(model, arguments, dict(named or {}), problem))
        return cls.of_exported(program)

    @classmethod
    def of_exported(cls, program: torch.export.ExportedProgram) -> Reference:
        with quietly():
            if any(_mutates(node) for node in program.graph.nodes):
                program = program.run_decompositions({})
            module = module_of(program)
        assert isinstance(module, fx.GraphModule)
        return cls(module)

    def value(self, name: str) -> Value:
        node = self.nodes[name]
        return Value(name, _shown_op(node), _layer(node), place_in(node.meta.get("stack_trace") or ""))

    def parents(self, name: str) -> list[str]:
        return [node.name for node in self.nodes[name].all_input_nodes if node.op != "get_attr"]

    def users(self, name: str) -> list[str]:
        return [node.name for node in self.nodes[name].users if node.op != "output"]

    def run(self, batch: Batch, dtype: torch.dtype, overrides: Mapping[str, Override] | None = None) -> list[Array]:
        return self.trace(batch, dtype, (), overrides).outputs

    def trace(
        self,
        batch: Batch,
        dtype: torch.dtype | None,
        wanted: Collection[str] | None = None,
        overrides: Mapping[str, Override] | None = None,
    ) -> Captured:
        """All values, or those wanted, with all numbers of one floating-point type, or of the graph's own."""
        captured = Captured([], arrays=Shelf())

        def keep(name: str, result: Any) -> None:
            if isinstance(result, Tensor):
                captured.values.append(self.value(name))
                captured.arrays[name] = as_array(result, copied=False)

        outputs = _Walk(self, dtype, overrides or {}).forward(
            batch, set(self.names if wanted is None else wanted), keep
        )
        captured.outputs = [as_array(value) for value in outputs]
        return captured

    def replay(
        self,
        known: Mapping[str, Any],
        wanted: str,
        overrides: Mapping[str, Override] | None = None,
        dtype: torch.dtype | None = torch.float64,
    ) -> Any:
        """One value, computed again from those that are known."""
        return _Walk(self, dtype, overrides or {}).back_from(wanted, known)

    def weight(self, path: str, dtype: torch.dtype | None) -> Any:
        if (path, dtype) not in self._weights:
            found: Any = self.graph
            for part in path.split("."):
                found = getattr(found, part)
            self._weights[path, dtype] = _cast(found.detach(), dtype) if isinstance(found, Tensor) else found
        return self._weights[path, dtype]

    def weights(self) -> dict[str, Array]:
        """What the graph has learnt, by its own names."""
        named = {node.target for node in self.graph.graph.nodes if node.op == "get_attr"}
        return {str(path): as_array(self.weight(str(path), torch.float32)) for path in sorted(map(str, named))}


class _Walk:
    """One way through the graph."""

    def __init__(self, reference: Reference, dtype: torch.dtype | None, overrides: Mapping[str, Override]) -> None:
        self._reference = reference
        self._dtype = dtype
        self._overrides = overrides

    def forward(self, batch: Batch, wanted: Collection[str], keep: Callable[[str, Any], None]) -> list[Any]:
        """Every node in order; a value is let go after its last use."""
        inputs = iter(batch)
        left = {node: len(node.users) for node in self._reference.graph.graph.nodes}
        alive: dict[str, Any] = {}
        with torch.no_grad():
            for node in self._reference.graph.graph.nodes:
                if node.op == "output":
                    break
                given = next(inputs) if node.op == "placeholder" else None
                alive[node.name] = self._computed(node, alive, given)
                if node.name in wanted:
                    keep(node.name, alive[node.name])
                for parent in node.all_input_nodes:
                    left[parent] -= 1
                    if not left[parent]:
                        del alive[parent.name]
        return [self._resolved(one, alive) for one in self._reference.outputs]

    def back_from(self, wanted: str, known: Mapping[str, Any]) -> Any:
        """Depth first from the wanted node, in the graph's own order."""
        computed: dict[str, Any] = {}
        alive = ChainMap(computed, cast("MutableMapping[str, Any]", known))
        needed: set[str] = set()
        open_ends = [wanted]
        while open_ends:
            name = open_ends.pop()
            if name in needed or (name in known and name not in self._overrides):
                continue
            needed.add(name)
            open_ends += [parent.name for parent in self._reference.nodes[name].all_input_nodes]
        with torch.no_grad():
            for name in sorted(needed, key=self._reference.order.__getitem__):
                computed[name] = self._computed(self._reference.nodes[name], alive, known.get(name))
        return alive[wanted]

    def _computed(self, node: fx.Node, alive: Mapping[str, Any], given: Any) -> Any:
        if node.op == "get_attr":
            return self._reference.weight(str(node.target), self._dtype)
        if node.op == "placeholder":
            tensor = given if isinstance(given, Tensor) else as_tensor(given)
            call = Call(node.name, "input", None, {"value": _cast(tensor, self._dtype)})
        else:
            call = self._call(node, alive)
        override = self._overrides.get(node.name)
        result = call.again() if override is None else override(call)
        if isinstance(result, Tensor) and not node.all_input_nodes:  # a constant made in the forward pass
            return _cast(result, self._dtype)
        return result

    def _call(self, node: fx.Node, alive: Mapping[str, Any]) -> Call:
        positional = [self._resolved(one, alive) for one in node.args]
        named = {key: self._resolved(one, alive) for key, one in node.kwargs.items()}
        target: Any = node.target
        if isinstance(target, torch._ops.OpOverload):
            names = [argument.name for argument in target._schema.arguments]
            named = {**dict(zip(names, positional, strict=False)), **named}
        else:
            named = {**{str(place): one for place, one in enumerate(positional)}, **named}
        return Call(node.name, op_of(node), target, named)

    def _resolved(self, argument: Any, alive: Mapping[str, Any]) -> Any:
        if isinstance(argument, fx.Node):
            return alive[argument.name]
        if isinstance(argument, torch.dtype):
            return self._dtype if argument.is_floating_point and self._dtype is not None else argument
        if isinstance(argument, list | tuple):
            return type(argument)(self._resolved(one, alive) for one in argument)
        if isinstance(argument, dict):
            return {key: self._resolved(one, alive) for key, one in argument.items()}
        return argument


def op_of(node: fx.Node) -> str:
    """`linear` of `aten::linear`, `input` of a placeholder."""
    if node.op == "placeholder":
        return "input"
    target: Any = node.target
    if isinstance(target, torch._ops.OpOverload):
        return str(target._schema.name).partition("::")[2].removesuffix("_")
    return str(getattr(target, "__name__", target))


def _shown_op(node: fx.Node) -> str:
    """The first of several results, as of an LSTM, is what people mean by its name."""
    if node.target is operator.getitem and node.args[1] == 0 and isinstance(node.args[0], fx.Node):
        made = op_of(node.args[0])
        return made if made in _SEVERAL else "getitem"
    return op_of(node)


def as_array(value: Any, copied: bool = True) -> Array:
    """A tensor's numbers, free of it where they are copied; bfloat16, which NumPy has not, as float32."""
    tensor = torch.as_tensor(value).detach().cpu()
    if tensor.dtype in (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2):
        tensor = tensor.float()
    array: Array = tensor.dequantize().numpy() if tensor.is_quantized else tensor.numpy()
    return array.copy() if copied else array


def as_tensor(array: Array) -> Tensor:
    return torch.from_numpy(array.copy())


def _cast(tensor: Tensor, dtype: torch.dtype | None) -> Tensor:
    if dtype is None:
        return tensor
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def _flat(arguments: Any) -> list[Any]:
    if isinstance(arguments, list | tuple):
        return [one for argument in arguments for one in _flat(argument)]
    if isinstance(arguments, dict):
        return [one for argument in arguments.values() for one in _flat(argument)]
    return [] if arguments is None else [arguments]


def _mutates(node: fx.Node) -> bool:
    target: Any = node.target
    return isinstance(target, torch._ops.OpOverload) and bool(target._schema.is_mutable)


def _layer(node: fx.Node) -> str:
    stack: Iterable[Any] = (node.meta.get("nn_module_stack") or {}).values()
    return str(next(reversed([entry[0] for entry in stack]), ""))


def place_in(stack: str) -> Place | None:
    """The innermost line of the user's own; in a library's model, the innermost line outside PyTorch."""
    frames = [(path, int(line)) for path, line in _FRAME.findall(stack)]
    own = [frame for frame in frames if is_users(frame[0])]
    of_others = [frame for frame in frames if "/torch/" not in frame[0].replace("\\", "/")]
    for candidates in (own, of_others):
        if candidates:
            return place_at(*candidates[-1])
    return None


def module_of(program: torch.export.ExportedProgram) -> torch.nn.Module:
    """What it computes, without the guards over its inputs that a newer torch puts in front."""
    has_guards = "check_guards" in inspect.signature(program.module).parameters
    return program.module(check_guards=False) if has_guards else program.module()


def _as_it_ran(model: Any, arguments: tuple[Any, ...], named: dict[str, Any], problem: Exception) -> fx.GraphModule:
    """For a model whose course depends on its numbers: the operations of one run, written down as they happened."""
    from torch.fx.experimental.proxy_tensor import make_fx

    leaves, spec = torch.utils._pytree.tree_flatten((arguments, named))

    def run(*flat: Any) -> Any:
        positional, keywords = torch.utils._pytree.tree_unflatten(list(flat), spec)
        return torch.utils._pytree.tree_leaves(model(*positional, **keywords))

    try:
        with torch.no_grad():
            return make_fx(
                run,
                tracing_mode="real",
                pre_dispatch=True,
                record_stack_traces=True,
                _error_on_data_dependent_ops=False,
            )(*leaves)
    except Exception:
        first = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
        raise CannotCompare(f"the model cannot be run on these inputs: {first}") from None
