"""Reads calls: which function of which framework it is, what it gives, and what the project's own functions do."""

from __future__ import annotations

import ast
import builtins
from functools import cache
from typing import Any, Final

from sleuth.source import dtypes, freezing, keras, names, ranges, shapes
from sleuth.source.operations import (
    FUNCTIONAL_LAYERS,
    OF_LAYER,
    OF_SPELLING,
    ONLY_TENSORS_HAVE,
    TENSORS_HAVE_WITHOUT_ARGUMENTS,
    WITH_WEIGHTS,
    operation_of,
)
from sleuth.source.scopes import ClassInfo, FunctionInfo
from sleuth.source.sites import Site, Step
from sleuth.source.state import DEEPEST, MOST_VISITS, Reading, State
from sleuth.source.values import NOTHING, Value, again, another, constant, joined

# Acts of training protocols, by the method's or function's last name. Besides these a trace has acts without such a
# name: forward (a network called), call (something unknown called in a loop), loop (over a loader or iterator),
# first_batch (`next(iter(…))`), augmented and append (a value added to a sum or list), carried (handed to the next
# round of a loop), grad (`p.grad = …`), dataset (a data set made), unknown (what trains went out of our sight).
ACTS: Final = frozenset(
    "backward step zero_grad eval train unscale_ update clip_grad_norm_ clip_grad_norm clip_grad_value_ "
    "clip_grads_with_norm_ "
    "set_epoch manual_backward minimize apply_gradients load_state_dict state_dict manual_seed seed scale "
    "export trace random item fit compile evaluate predict requires_grad_ seed_everything set_seed add_param_group "
    "zero_ "
    "run restore".split()
)
# What gives an iterator that is empty after one pass, and builtins that make that pass.
RUN_ONCE: Final = frozenset(
    "parameters named_parameters buffers modules children named_modules map filter zip enumerate".split()
)
_GO_THROUGH: Final = frozenset("list tuple sorted set dict sum max min any all".split())
# Values of which only this is known: what was handed in, or given by something unknown. A network may be among them.
_HANDED_IN: Final = ("param:", "attr:", "call", "api:", "phi", "item:", "index", "element")
_BUILTINS: Final = frozenset(dir(builtins))
_OPAQUE: Final = frozenset({"optimizer", "module", "instance", "scheduler", "scaler"})
# Wrappers that give back what they were given.
_TRANSPARENT: Final = frozenset(
    "tqdm.tqdm tqdm.trange iter list tuple sorted reversed torch.compile torch.jit.script torch.jit.trace "
    "torch.nn.DataParallel torch.nn.parallel.DistributedDataParallel torch.nn.utils.weight_norm "
    "torch.nn.utils.spectral_norm torch.nn.utils.parametrizations.weight_norm jax.device_put "
    "copy.deepcopy copy.copy torch.autograd.Variable jax.jit flax.jax_utils.replicate".split()
)
_NO_GRADIENT: Final = frozenset(
    "argmax detach item numpy one_hot stop_gradient count randint zeros ones full empty rand randn arange eye "
    "compare len isnan "
    "from_numpy".split()
)
# Things that act in training: a function that gets one is read with it.
_ACTORS: Final = frozenset(
    "module instance optimizer scheduler scaler loader dataset key batch function device".split()
)
# Results whose sizes may depend on the numbers a function was given.
_MADE_TO_MEASURE: Final = frozenset("module instance sequence tensor array".split())
# Operations that say something about the numbers they give.
_FACTS: Final = frozenset(OF_SPELLING.values()) | frozenset(OF_LAYER.values())
_TRAINED: Final = frozenset(
    "torch.nn.Parameter torch.autograd.Variable tensorflow.Variable tensorflow.get_variable keras.Variable".split()
)
_KEEP_KIND: Final = frozenset("to cuda cpu float half double bfloat16 train eval requires_grad_ type".split())


class Arguments:
    """The evaluated arguments of one call."""

    __slots__ = ("keywords", "loose", "positional", "star")

    def __init__(
        self, positional: list[Value], keywords: dict[str, Value], star: bool, loose: Value | None = None
    ) -> None:
        self.positional = positional
        self.keywords = keywords
        self.star = star
        self.loose = loose  # a list given as *list, of which not everything is known

    def options(self) -> dict[str, Value]:
        given = {**{str(index): value for index, value in enumerate(self.positional)}, **self.keywords}
        if self.star:
            given["**"] = Value()  # there may be more, of which nothing is known
        return given


class Calls(State):
    """The part of the interpreter that understands calls."""

    def call(self, node: ast.Call) -> Value:
        func = node.func
        if isinstance(func, ast.Attribute):
            base = self.evaluate(func.value)
            made = self.method(node, base, func.attr, self.arguments(node))
        else:
            callee = self.evaluate(func)
            arguments = self.arguments(node)
            if isinstance(func, ast.Name) and callee.kind == "?" and not callee.op and func.id in _BUILTINS:
                made = self.builtin(node, func.id, arguments)
            else:
                made = self.apply(node, callee, arguments)
        if made.unit is None:
            made.unit = self.file
        return made

    def arguments(self, node: ast.Call) -> Arguments:
        positional: list[Value] = []
        star, loose = False, None
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                inner = self.evaluate(argument.value)
                if inner.parts is not None and inner.exact:
                    positional += inner.parts
                else:
                    star, loose = True, inner
            else:
                positional.append(self.evaluate(argument))
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is None:
                star = True
            else:
                keywords[keyword.arg] = value
        return Arguments(positional, keywords, star, loose)

    def method(self, node: ast.Call, base: Value, name: str, arguments: Arguments) -> Value:
        kind = base.kind
        if kind == "api":
            found = self.member(base, name, node.func)
            return self.apply(node, found, arguments)
        if kind in ("instance", "class"):
            return self.project_method(node, base, name, arguments)
        if kind == "super":
            return self.super_method(node, base, name, arguments)
        if kind == "?" and (
            name in ONLY_TENSORS_HAVE
            or (name in TENSORS_HAVE_WITHOUT_ARGUMENTS and not node.args and not node.keywords)
        ):
            kind = "tensor"
        if kind in ("tensor", "array"):
            return self.tensor_method(node, base, kind, name, arguments)
        if kind == "package":
            held = base.attrs.get(name) or Value(node=node, op=f"attr:{name}", inputs=(base,))
            return self.apply(node, self.project.settle(held), arguments)
        if kind in ("sequence", "mapping"):
            return self.container_method(node, base, name, arguments)
        if kind == "module":
            return self.module_method(node, base, name, arguments)
        result = Value(node=node, op=f"call:{name}", inputs=(base, *arguments.positional))
        if kind == "?" and name in OF_SPELLING and not arguments.keywords.get("key"):
            # What it is we do not know; should it be a tensor, its numbers are these.
            result = self.result_of(OF_SPELLING[name], node, [base, *arguments.positional], arguments.keywords, "?")
        elif kind == "key":
            result.kind = "key"
        elif kind in ("optimizer", "scheduler", "scaler") and name == "scale" and arguments.positional:
            result = self.result_of("scale", node, arguments.positional, arguments.keywords, "tensor")
        self.announce(node, f"{kind}.{name}", "", base, arguments, [base, *arguments.positional], result)
        return result

    def module_method(self, node: ast.Call, base: Value, name: str, arguments: Arguments) -> Value:
        if name in _KEEP_KIND:
            result = base
            self.moved_or_frozen(node, base, name, arguments)
        elif name in ("forward", "__call__"):
            result = self.layer(node, base, arguments)
        elif name in (
            "parameters",
            "named_parameters",
            "buffers",
            "state_dict",
            "modules",
            "children",
            "named_modules",
            "named_children",
        ):
            result = Value("?", node, op=name, inputs=(base,))
        else:
            result = Value(node=node, op=f"call:{name}", inputs=(base, *arguments.positional))
            if name in ("add", "append", "add_module", "insert") and base.parts is not None and arguments.positional:
                base.parts.append(arguments.positional[-1])
                surely = name != "insert" and self.surely_reached(base)
                base.exact, base.tail = base.exact and surely, surely
            elif name == "pop" and base.parts and base.tail:
                base.parts.pop()
                base.exact = base.exact and self.surely_reached(base)
                base.tail = base.exact
            elif name == "predict":
                result.kind = "array"
            elif name == "compile" and keras.is_model(base):
                self.compile_keras(node, base, arguments, result)
        self.announce(node, f"module.{name}", "", base, arguments, [base, *arguments.positional], result)
        return result

    def surely_reached(self, container: Value) -> bool:
        """Is what happens here to a container done exactly once for each: in no loop or branch it was not made in?"""
        return (not self.loops or id(self.loops[-1]) == container.loop) and self.branch == container.branch[
            : len(self.branch)
        ]

    def compile_keras(self, node: ast.Call, model: Value, arguments: Arguments, result: Value) -> None:
        """A Keras network at its `compile`: what it will give, and what a loss of the project does with that."""
        given = Value("tensor", node, op="symbolic")
        seen = len(self.steps)
        call = self.layer if model.kind == "module" else self.call_instance
        output = call(node, model, Arguments([given], {}, False))
        result.own_attrs()["output"] = output
        if output.kind == "sequence" and output.parts is not None and output.exact and len(output.parts) == 1:
            output = output.parts[0]
        loss = arguments.keywords.get("loss") or next(iter(arguments.positional[1:2]), None)
        if loss is not None and loss.kind == "function" and loss.info is not None:
            target = Value("tensor", node, op="symbolic")
            predicted = Value("tensor", node, op="symbolic", inputs=(output,))
            bound = loss.inputs[0] if loss.op == "method" else None
            self.follow(node, loss, None, Arguments([target, predicted], {}, False), bound)
        # Nothing of this runs now: it is no part of the training that the steps tell.
        del self.steps[seen:]

    def moved_or_frozen(self, node: ast.Call, network: Value, name: str, arguments: Arguments) -> None:
        """`network.to(device)`, `network.requires_grad_(False)`: what they change in the network itself."""
        if name in ("to", "cuda", "cpu"):
            network.device = self.device_given(name, arguments)
            self.note("move", node, network, arguments.positional, network)
        elif name == "requires_grad_":
            flag = arguments.positional[0].const if arguments.positional else True
            flag = flag if isinstance(flag, bool) and self.surely_runs() else None
            freezing.set_on_network(network, flag)
            self.note("freeze" if flag is False else "thaw", node, network, [], network)

    def surely_runs(self) -> bool:
        """Does what stands here run whenever its function does? `if __name__ == "__main__"` is no condition."""
        return all(
            isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
            for test in self.tests
        )

    def device_given(self, name: str, arguments: Arguments) -> str | None:
        given = arguments.keywords.get("device") or next(iter(arguments.positional), None)
        if name != "to":
            number = None if given is None else given.number()
            return name if number is None else f"{name}:{number}"
        return None if given is None else _device_named(given)

    def tensor_method(self, node: ast.Call, base: Value, kind: str, name: str, arguments: Arguments) -> Value:
        operands = [base, *arguments.positional]
        operation = OF_SPELLING.get(name, "")
        result_kind = "number" if operation in ("item", "count") or name in ("size", "dim", "nelement") else kind
        if operation == "numpy":
            result_kind = "array"
        elif name in ("backward", "register_hook", "get_shape", "set_shape"):
            result_kind = "?"
        result = self.result_of(operation or f"call:{name}", node, operands, arguments.keywords, result_kind)
        if name in ("size", "get_shape"):
            result.op = "attr:shape" if not arguments.positional else "size"
        if operation in ("to", "cuda", "cpu"):
            device = self.device_given(name, arguments)
            result.device = device if device is not None or operation != "to" else base.device
        if arguments.star:
            result.shape = None
        if name == "requires_grad_":
            result.grad = not (arguments.positional and arguments.positional[0].const is False)
        if name.endswith("_") and not name.startswith("_") and isinstance(node.func, ast.Attribute):
            self.rebind(node.func.value, result)
        self.announce(node, f"{kind}.{name}", operation, base, arguments, operands, result)
        return result

    def rebind(self, target: ast.expr, value: Value) -> None:
        """An in-place method changed what a name holds."""
        if isinstance(target, ast.Name) and target.id in self.names:
            self.names[target.id] = value

    def container_method(self, node: ast.Call, base: Value, name: str, arguments: Arguments) -> Value:
        if base.parts is not None and name in ("append", "extend", "insert") and arguments.positional:
            added = arguments.positional[-1]
            if name == "extend":
                base.parts += added.parts or []
                base.exact = base.exact and added.parts is not None and added.exact
            else:
                base.parts.append(added)
            surely = name != "insert" and self.surely_reached(base)
            base.exact, base.tail = base.exact and surely, surely and (name != "extend" or added.tail)
            if self.loops and name == "append" and added.kind in ("tensor", "?"):
                self.note("append", node, base, [added], base)
        elif name in ("pop", "clear", "remove", "sort", "reverse", "update"):
            base.exact = False
        result = Value(node=node, op=f"call:{name}", inputs=(base, *arguments.positional))
        if name == "get" and base.kind == "mapping" and arguments.positional:
            found = base.attrs.get(str(arguments.positional[0].const))
            result = found if found is not None else result
        elif name in ("items", "values", "keys", "copy") and base.kind == "mapping":
            result = Value("sequence" if name != "copy" else "mapping", node, op=name, inputs=(base,))
            result.parts, result.attrs, result.exact = base.parts, base.attrs, False
        self.announce(node, f"{base.kind}.{name}", "", base, arguments, [base, *arguments.positional], result)
        return result

    def member(self, base: Value, name: str, node: ast.AST) -> Value:
        """A framework's name one level down: torch.nn from torch."""
        made = Value("api", node)
        made.raw = f"{base.raw}.{name}"
        made.api = names.canonical(f"{base.api}.{name}")
        dtype = names.dtype_of(made.api)
        if dtype is not None:
            made.dtype = dtype
        elif made.api in names.CONSTANTS:
            made.const = names.CONSTANTS[made.api]
        return made

    def apply(self, node: ast.Call, callee: Value, arguments: Arguments) -> Value:
        kind = callee.kind
        if kind == "api":
            return self.api_call(node, callee, arguments)
        if kind == "function" and callee.info is not None:
            bound = callee.inputs[0] if callee.op == "method" else None
            return self.follow(node, callee, None, arguments, bound)
        if kind == "class" and callee.info is not None:
            return self.construct(node, callee, arguments)
        if kind == "module":
            return self.layer(node, callee, arguments)
        if kind == "instance":
            return self.call_instance(node, callee, arguments)
        result = Value(node=node, op="call", inputs=(callee, *arguments.positional))
        if self.loops and callee.op.startswith(_HANDED_IN):
            self.note("call", node, callee, arguments.positional, result)
        self.announce(node, "?", "", callee, arguments, arguments.positional, result)
        return result

    def api_call(self, node: ast.Call, callee: Value, arguments: Arguments) -> Value:
        name = callee.api
        operation = operation_of(name)
        kind = names.kind_of_result(name)
        if name in _TRANSPARENT and arguments.positional:
            result = self.wrapped(node, name, arguments)
        elif operation:
            result = self.result_of(operation, node, arguments.positional, arguments.keywords, kind)
            result.api = name
        elif name in FUNCTIONAL_LAYERS:
            result = self.functional_layer(node, name, arguments)
        elif name in names.GIVE_NUMBERS:
            result = constant(names.GIVE_NUMBERS[name], node)
        else:
            result = Value(kind, node, op=f"api:{name}", inputs=tuple(arguments.positional), api=name)
            result.dtype = dtypes.of_call(name, arguments.positional)
            result.shape = shapes.of_call(name, arguments.positional, arguments.keywords)
        if arguments.star:
            result.shape = None
        if name not in _TRANSPARENT:
            result.options = arguments.options()
            result.loop = id(self.loops[-1]) if self.loops else 0
            result.unit = self.file
        if result.kind == "module" and name in ("torch.nn.Sequential", "keras.Sequential", "torch.nn.ModuleList"):
            self.fill(result, arguments)
        elif result.kind == "tensor" and name in _TRAINED:
            result.grad = True
        elif result.kind == "device":
            first = next(iter(arguments.positional), None)
            result.device = _device_named(first) if first is not None else None
        dtype = arguments.keywords.get("dtype")
        if dtype is not None:
            result.dtype = dtypes.named(dtype)
        device = arguments.keywords.get("device")
        if device is not None and result.kind == "tensor":
            result.device = _device_named(device) or "given"
        grad = arguments.keywords.get("requires_grad")
        if grad is not None and result.kind == "tensor":
            result.grad = grad.const is True
        if result.kind == "optimizer" and name.startswith("torch.optim."):
            self.note("optimizer", node, result, arguments.positional, result)
        if result.kind in ("optimizer", "?"):
            for one in arguments.positional:
                self.use_up(one, node)
        self.announce(node, name, operation, None, arguments, arguments.positional, result)
        return result

    def functional_layer(self, node: ast.Call, name: str, arguments: Arguments) -> Value:
        """A layer of TensorFlow 1, made and applied at once."""
        given = arguments.keywords.get("inputs") or next(iter(arguments.positional), None)
        operation = FUNCTIONAL_LAYERS[name]
        result = self.result_of(operation, node, [] if given is None else [given], {}, "tensor")
        result.api, result.options, result.unit = name, arguments.options(), self.file
        if operation not in WITH_WEIGHTS:
            return result
        result.grad = True
        applied = keras.activation(result)
        if applied == "" and ".contrib." in name and "activation_fn" not in arguments.keywords:
            applied = "relu"  # the default there
        if applied is None:
            return self.unknown_layer(node, result, result)
        return self.result_of(applied, node, [result], {}, "tensor") if applied else result

    def wrapped(self, node: ast.Call, name: str, arguments: Arguments) -> Value:
        inner = arguments.positional[0]
        if name in ("jax.jit", "torch.compile") and isinstance(inner.info, FunctionInfo) and inner.kind == "function":
            compiled = Value("api", node, api=name)
            compiled.options = arguments.options()
            inner.info.decorators.append(compiled)
        if name in ("copy.deepcopy", "copy.copy") and inner.kind in ("module", "instance"):
            made = Value(inner.kind, node, op="copy", inputs=(inner,), api=inner.api)
            made.attrs, made.parts, made.info, made.options = dict(inner.attrs), inner.parts, inner.info, inner.options
            return made
        return inner

    def fill(self, container: Value, arguments: Arguments) -> None:
        """The layers a Sequential or ModuleList was given, as far as they are written out."""
        container.branch = self.branch
        given = arguments.positional or [one for one in (arguments.keywords.get("layers"),) if one is not None]
        if len(given) == 1 and given[0].kind in ("sequence", "mapping") and given[0].parts is not None:
            container.parts, container.exact, container.tail = list(given[0].parts), given[0].exact, given[0].tail
        elif not given and arguments.loose is not None and arguments.loose.parts is not None:
            loose = arguments.loose
            container.parts, container.exact, container.tail = list(arguments.loose.parts), False, loose.tail
        elif len(given) == 1 and given[0].kind == "?" and not arguments.star:
            container.parts, container.exact, container.tail = [], False, False
        else:
            container.parts, container.exact, container.tail = list(given), not arguments.star, not arguments.star

    def result_of(
        self, operation: str, node: ast.AST, operands: list[Value], options: dict[str, Value], kind: str
    ) -> Value:
        """The value an operation gives."""
        result = Value(kind, node, op=operation, inputs=tuple(operands))
        if operands:
            result.lo, result.hi = ranges.of_result(operation, operands, options)
            result.device = operands[0].device
            if any(one.grad for one in operands) and operation not in _NO_GRADIENT:
                result.grad = not self.spot_without_grad()
            elif operation in _NO_GRADIENT:
                result.grad = False
        else:
            result.lo, result.hi = ranges.FIXED.get(operation, (None, None))
        result.dtype = dtypes.of_result(operation, operands, options, kind)
        result.shape = shapes.of_result(operation, operands, options)
        if options:
            result.options = {**{str(i): v for i, v in enumerate(operands)}, **options}
        result.loop = id(self.loops[-1]) if self.loops else 0
        return result

    def spot_without_grad(self) -> bool:
        return bool(self.withs) and self.spot().without_grad

    def layer(self, node: ast.Call, layer: Value, arguments: Arguments) -> Value:
        """The call of a layer, a loss or a whole network of a framework."""
        if (
            layer.api in ("torch.nn.Sequential", "keras.Sequential")
            and layer.parts is not None
            and arguments.positional
            # A network can be made to hold itself.
            and layer not in self.inside
        ):
            value = arguments.positional[0]
            self.inside.append(layer)
            if not layer.exact:
                value = Value("tensor", node, op="module", inputs=(layer, value))
                value.grad = not self.spot_without_grad()
                if layer.parts and layer.tail:
                    value = self.through(node, layer.parts[-1], value)
            else:
                for part in list(layer.parts):
                    value = self.through(node, part, value)
            self.inside.pop()
            self.note_forward(node, layer, arguments, value)
            self.announce(node, f"{layer.api}()", "", layer, arguments, arguments.positional, value)
            return value
        operation = OF_LAYER.get(layer.api, "")
        inner = keras.repeated(layer)
        symbolic = keras.outputs(layer)
        if inner is not None and inner.kind == "module":
            result = self.layer(node, inner, arguments)
        elif symbolic is not None:
            result = self.functional(node, symbolic, arguments)
            self.note_forward(node, layer, arguments, result)
        elif not operation:
            result = Value(
                "tensor" if arguments.positional else "?", node, op="module", inputs=(layer, *arguments.positional)
            )
            result.grad = layer.grad is not False and not self.spot_without_grad()
            self.note_forward(node, layer, arguments, result)
        else:
            merged = {**layer.options, **arguments.keywords}
            result = self.result_of(operation, node, arguments.positional, merged, "tensor")
            result.inputs = (*arguments.positional, layer)
            if operation in WITH_WEIGHTS and layer.grad is not False:
                result.grad = not self.spot_without_grad()
            result.shape = shapes.of_layer(layer, arguments.positional)
            if layer.api.startswith("keras.layers.") and operation in ("linear", "conv", "identity"):
                result = self.keras_activation(node, layer, result)
            elif operation == "recurrent":
                result = self.recurrent(node, layer, result)
        self.announce(node, f"{layer.api}()", operation, layer, arguments, arguments.positional, result)
        return result

    def functional(self, node: ast.AST, symbolic: Value, arguments: Arguments) -> Value:
        """What a functional Keras model gives: the numbers of its symbolic output, or of each of them."""
        if symbolic.kind == "sequence" and symbolic.parts is not None:
            made = Value("sequence", node, op="network")
            made.parts = [self.functional(node, part, arguments) for part in symbolic.parts]
            made.exact = symbolic.exact
            return made
        made = Value("tensor", node, op="network", inputs=(symbolic, *arguments.positional))
        made.grad = not self.spot_without_grad()
        return made

    def recurrent(self, node: ast.Call, layer: Value, output: Value) -> Value:
        hidden = Value("tensor", node, op="hidden", inputs=output.inputs)
        hidden.grad = output.grad
        pair = Value("sequence", node, op="recurrent", inputs=output.inputs)
        pair.parts, pair.grad = [output, hidden], output.grad
        return pair if not layer.api.endswith("Cell") else output

    def keras_activation(self, node: ast.AST, layer: Value, result: Value) -> Value:
        operation = keras.activation(layer)
        if operation is None:
            return self.unknown_layer(node, layer, result)
        return self.result_of(operation, node, [result], {}, "tensor") if operation else result

    def through(self, node: ast.AST, part: Value, value: Value) -> Value:
        """One layer of a Sequential, applied."""
        call = Arguments([value], {}, False)
        # A person looks for the layer where it is written, not where the whole network is called.
        where: Any = part.node if part.node is not None and part.unit is not None else node
        kept, self.file = self.file, part.unit or self.file
        try:
            if part.kind == "module":
                made = self.layer(where, part, call)
            elif part.kind == "instance":
                made = self.call_instance(where, part, call)
            elif part.kind == "api":
                made = self.api_call(where, part, call)
            elif part.op == "api:keras.Input":
                # At the head of a Sequential it only tells the shape.
                made = Value("tensor", where, op="identity", inputs=(value,))
                made.shape, made.grad = part.shape or value.shape, value.grad
            else:
                return self.unknown_layer(node, part, value)
            made.unit = made.unit or self.file
            return made
        finally:
            self.file = kept

    def unknown_layer(self, node: ast.AST, part: Value, value: Value) -> Value:
        made = Value("tensor", node, op="module", inputs=(part, value))
        made.grad = value.grad
        return made

    def call_instance(self, node: ast.Call, instance: Value, arguments: Arguments) -> Value:
        info = self.class_of(instance)
        method = info.called() if info is not None else None
        if method is not None:
            before = self.handed_over(instance) if self.loops else instance.attrs
            result = self.follow(node, Value("function"), method, arguments, instance)
            if self.loops and before != instance.attrs and instance.op != "self":
                self.note_carried(self.loops[-1], before, instance.attrs)
        else:
            result = Value("tensor" if info is not None and info.is_module() else "?", node, op="module")
            result.inputs = (instance, *arguments.positional)
        if info is not None and info.is_module() and result.grad is None and result.kind in ("tensor", "?"):
            made = Value("tensor" if result.kind == "tensor" else "?", node, op="module", inputs=(instance, result))
            made.grad = not self.spot_without_grad()
            if result.kind == "?" and not result.op:
                result = made
        if info is not None and info.is_module():
            self.note_forward(node, instance, arguments, result)
        self.announce(node, "instance()", "", instance, arguments, arguments.positional, result)
        return result

    def handed_over(self, instance: Value) -> dict[str, Value]:
        """The attributes that the innermost loop has not set anew in this round."""
        loop, bound = self.loops[-1], self.bound_in
        return {name: one for name, one in instance.attrs.items() if loop not in bound.get((id(instance), name), ())}

    def project_method(self, node: ast.Call, base: Value, name: str, arguments: Arguments) -> Value:
        info = self.class_of(base)
        held = base.attrs.get(name)
        if held is not None and held.kind not in ("?", "none"):
            return self.apply(node, held, arguments)
        method = info.method(name) if info is not None else None
        if method is not None:
            is_class = base.kind == "class"
            bound = (
                None
                if method.decorated_with("staticmethod") or (is_class and not method.decorated_with("classmethod"))
                else base
            )
            result = self.follow(node, Value("function"), method, arguments, bound)
        elif info is not None and info.is_module():
            return self.module_like(node, base, name, arguments)
        else:
            result = Value(node=node, op=f"call:{name}", inputs=(base, *arguments.positional))
        self.announce(node, f"{base.kind}.{name}", "", base, arguments, [base, *arguments.positional], result, method)
        return result

    def module_like(self, node: ast.Call, base: Value, name: str, arguments: Arguments) -> Value:
        """A method that a project's network inherits from its framework."""
        if name in _KEEP_KIND:
            self.moved_or_frozen(node, base, name, arguments)
            result = base
        elif name in ("forward", "call", "__call__"):
            result = self.call_instance(node, base, arguments)
        else:
            if name in ("register_buffer", "register_parameter", "add_module") and len(arguments.positional) > 1:
                key = arguments.positional[0].const
                if isinstance(key, str):
                    base.own_attrs()[key] = arguments.positional[1]
            result = Value(
                node=node, op=f"{name}" if name in ("parameters", "named_parameters", "state_dict") else f"call:{name}"
            )
            result.inputs = (base, *arguments.positional)
            if name == "compile" and keras.is_model(base):
                self.compile_keras(node, base, arguments, result)
            elif name in ("add_weight", "add_variable"):
                result.kind, result.grad = "tensor", True
        self.announce(node, f"module.{name}", "", base, arguments, [base, *arguments.positional], result)
        return result

    def super_method(self, node: ast.Call, base: Value, name: str, arguments: Arguments) -> Value:
        owner: ClassInfo = base.info
        instance = base.inputs[0] if base.inputs else None
        for parent in owner.bases:
            if isinstance(parent.info, ClassInfo):
                method = parent.info.method(name)
                if method is not None and instance is not None:
                    return self.follow(node, Value("function"), method, arguments, instance)
        result = Value(node=node, op=f"call:{name}", inputs=tuple(arguments.positional))
        self.announce(node, f"super.{name}", "", instance, arguments, arguments.positional, result)
        return result

    def construct(self, node: ast.Call, cls: Value, arguments: Arguments) -> Value:
        """An instance of a class of the project, with the attributes its __init__ gives it."""
        info: ClassInfo = cls.info
        made = Value("instance", node, op="construct", inputs=tuple(arguments.positional), api=info.name)
        made.info, made.options, made.unit, made.branch = info, arguments.options(), self.file, self.branch
        made.loop = id(self.loops[-1]) if self.loops else 0
        if info.is_module():
            made.grad = True
        initialiser = info.method("__init__")
        if initialiser is not None:
            self.initialise(node, made, initialiser, arguments)
        self.announce(node, "construct", "", cls, arguments, arguments.positional, made)
        return made

    def initialise(self, node: ast.AST, made: Value, initialiser: FunctionInfo, arguments: Arguments) -> None:
        """Inside other functions, an object made before in the same way gets the same attributes without reading on."""
        key = (made.info, _signature(arguments)) if self.stack else None
        if key is not None and key[1] is not None and key in self.made:
            made.attrs = dict(self.made[key])
            return
        made.own_attrs()
        self.follow(node, Value("function"), initialiser, arguments, made)
        if key is not None and key[1] is not None:
            self.made[key] = made.attrs

    def follow(
        self,
        node: ast.AST,
        callee: Value,
        info: FunctionInfo | None,
        arguments: Arguments,
        bound: Value | None = None,
    ) -> Value:
        """Read the body of a function of the project with the arguments of this call."""
        function: FunctionInfo = info if info is not None else callee.info
        result = Value(node=node, op="call", inputs=tuple(arguments.positional))
        # A framework's decorator (@torch.no_grad()) leaves the function what it is; one of the project may do anything.
        decorated = any(
            value.kind == "function" or (value.kind == "?" and not value.api) for value in function.decorators
        )
        if function.decorators and self.listeners.wants("decorated()", ""):
            self.announce(node, "decorated()", "", _of_function(function), arguments, arguments.positional, result)
        is_init = function.name == "__init__"
        if (
            function in self.stack
            or len(self.stack) >= DEEPEST
            or self.fuel <= 0
            or self.visits.get(function, 0) >= MOST_VISITS
            or (decorated and not is_init)
        ):
            self.announce(node, "opaque", "", bound, arguments, arguments.positional, result)
            return result
        plain = not is_init and not _worth_reading(arguments, bound)
        known = self.readings.get(function) if plain else None
        if known is not None and known.result.kind in _MADE_TO_MEASURE and known.given != _literals(arguments):
            known = None
        if known is not None:
            for step in known.steps:
                self.steps.append(step.moved(self.loops, known.depth))
            if known.result.kind in ("module", "instance") and _is_made_in(function, known.result):
                return another(known.result, node)
            return again(known.result, node)
        self.visits[function] = self.visits.get(function, 0) + 1
        before = len(self.steps)
        kept, self.choosing = self.choosing, not plain
        function.followed = function.followed or not plain
        answer = self.run_function(function, node, arguments, bound)
        self.choosing = kept
        if plain:
            self.readings[function] = Reading(answer, self.steps[before:], len(self.loops), _literals(arguments))
        return answer

    def run_function(
        self, function: FunctionInfo, node: ast.AST | None, arguments: Arguments | None, bound: Value | None
    ) -> Value:
        saved = (self.names, self.function, self.file, self.returned, self.ended, self.stack, self.calls, self.tests)
        kept_loops, kept_withs, kept_branch, kept_guards = self.loops, self.withs, self.branch, self.guards
        self.names = self.bind(function, arguments, bound)
        if node is not None:
            self.calls = (*self.calls, (self.file, node))
        self.function, self.file, self.returned, self.ended = function, function.file, [], False
        self.stack = (*self.stack, function)
        self.tests = ()
        self.withs = (*self.withs, *(value for value in function.decorators if value.kind == "?" and value.api))
        try:
            self.execute(function.body())
            returned = self.returned
        finally:
            (self.names, self.function, self.file, self.returned, self.ended, self.stack, self.calls, self.tests) = (
                saved
            )
            self.loops, self.withs, self.branch, self.guards = kept_loops, kept_withs, kept_branch, kept_guards
        if not returned:
            return Value("none", node, const=None)
        result = returned[0]
        for other in returned[1:]:
            result = joined(result, other, node)
        return result

    def bind(self, function: FunctionInfo, arguments: Arguments | None, bound: Value | None) -> dict[str, Value]:
        """The values of a function's parameters at its start."""
        spec = function.node.args
        parameters = [*spec.posonlyargs, *spec.args]
        given = list(arguments.positional) if arguments is not None else []
        if bound is not None:
            given.insert(0, bound)
        scope: dict[str, Value] = {}
        keywords = arguments.keywords if arguments is not None else {}
        defaults: dict[str, ast.expr] = {}
        if spec.defaults:
            defaults = {p.arg: d for p, d in zip(parameters[-len(spec.defaults) :], spec.defaults, strict=True)}
        defaults.update({p.arg: d for p, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None})
        for index, parameter in enumerate([*parameters, *spec.kwonlyargs]):
            name = parameter.arg
            if index < len(given) and index < len(parameters):
                scope[name] = given[index]
            elif name in keywords:
                scope[name] = keywords[name]
            elif arguments is not None and name in defaults and not arguments.star:
                scope[name] = self.default(defaults[name])
            else:
                scope[name] = self.unknown_parameter(function, parameter, index, defaults.get(name))
        for extra in (spec.vararg, spec.kwarg):
            if extra is not None:
                scope[extra.arg] = Value("?", extra, op=f"param:*{extra.arg}")
        return scope

    def default(self, node: ast.expr) -> Value:
        return self.evaluate(node) if isinstance(node, ast.Constant | ast.UnaryOp) else Value("?", node, op="default")

    def unknown_parameter(
        self, function: FunctionInfo, parameter: ast.arg, index: int, default: ast.expr | None
    ) -> Value:
        made = Value("?", parameter, op=f"param:{parameter.arg}")
        if index == 0 and function.is_method and parameter.arg in ("self", "cls"):
            made.kind, made.info = ("instance" if parameter.arg == "self" else "class"), function.cls
            made.op = "self"
        elif parameter.annotation is not None:
            self.annotate(made, parameter.annotation)
        elif (
            default is None
            and function.name in ("forward", "call")
            and function.cls is not None
            and function.cls.is_module()
        ):
            made.kind = "tensor"
        return made

    def annotate(self, value: Value, annotation: ast.expr) -> None:
        """What a type annotation says of a value."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except (SyntaxError, ValueError):
                return
        if not isinstance(annotation, ast.Name | ast.Attribute):
            return
        named = self.evaluate(annotation)
        if named.kind == "api":
            if named.api in ("torch.nn.Module", "keras.Model", "torch.nn.Sequential"):
                value.kind, value.api = "module", "torch.nn.Module"
            elif named.api in ("torch.optim.lr_scheduler.LRScheduler", "torch.optim.lr_scheduler._LRScheduler"):
                value.kind = "scheduler"
            elif named.api == "torch.optim.Optimizer":
                value.kind = "optimizer"
            elif named.api in ("jax.Array", "jax.numpy.ndarray", "tensorflow.Tensor", "jaxlib.xla_extension.ArrayImpl"):
                value.kind = "tensor"
            elif named.api == "numpy.ndarray":
                value.kind = "array"
            elif named.api[:1].islower() and names.kind_of_result(named.api) in (
                "tensor",
                "loader",
                "optimizer",
                "device",
            ):
                value.kind = names.kind_of_result(named.api)
                value.api = named.api
        elif named.kind == "class" and named.info is not None:
            value.kind, value.info = "instance", named.info
            value.api = named.info.name
        elif isinstance(annotation, ast.Name) and annotation.id in ("int", "float", "bool"):
            value.kind = "number"
        elif isinstance(annotation, ast.Name) and annotation.id == "str":
            value.kind = "text"

    def builtin(self, node: ast.Call, name: str, arguments: Arguments) -> Value:
        given = arguments.positional
        if name in _GO_THROUGH and given:
            self.use_up(given[0], node)
        if name in ("iter", "list", "tuple", "sorted", "reversed") and given:
            if name == "iter" or not is_generator(given[0]):
                return given[0]
            made = Value()
            made.become(given[0])
            made.node = node
            return made
        if name == "super":
            made = Value("super", node)
            made.info = self.function.cls if self.function is not None else None
            first = next(iter(self.names.values()), None) if self.names else None
            made.inputs = (first,) if first is not None and first.kind == "instance" else ()
            return made if made.info is not None else Value(node=node)
        if name == "next" and given:
            result = self.element(given[0], node)
            if self.loops and _is_call_of(node.args[0], "iter"):
                self.note("first_batch", node, given[0], given, result)
            return result
        if name in ("max", "min") and len(given) > 1:
            return self.result_of("maximum" if name == "max" else "minimum", node, given, {}, "number")
        if name in ("sum", "abs", "pow") and given:
            kind = given[0].kind if given[0].kind in ("tensor", "array") else "number" if name == "abs" else "?"
            result = self.result_of(name, node, given, {}, kind)
            self.announce(node, f"builtins.{name}", name, None, arguments, given, result)
            return result
        if name == "len":
            return self.result_of("len", node, given, {}, "number")
        if name in ("enumerate", "zip", "range", "map", "filter"):
            return Value("iterator", node, op=name, inputs=tuple(given))
        if name in ("float", "int", "bool", "round"):
            result = Value("number", node, op=f"builtin:{name}", inputs=tuple(given))
            if given:
                result.lo, result.hi = given[0].lo, given[0].hi
                if name == "float" and isinstance(given[0].const, str):
                    result.const = _float_of(given[0].const)
                elif name in ("float", "int") and given[0].number() is not None:
                    result.const = given[0].const
            self.announce(node, f"builtins.{name}", "", None, arguments, given, result)
            return result
        if name == "dict":
            made = Value("mapping", node)
            made.attrs, made.parts = dict(arguments.keywords), list(arguments.keywords.values())
            return made
        result = Value(node=node, op=f"builtin:{name}", inputs=tuple(given))
        self.announce(node, f"builtins.{name}", "", None, arguments, given, result)
        return result

    def use_up(self, iterable: Value, node: ast.AST) -> None:
        """Something goes through a generator: nothing is left in it."""
        if iterable.used is None and is_generator(iterable):
            iterable.used = (node, self.branch)

    def element(self, iterable: Value, node: ast.AST) -> Value:
        """What a loop over a value sees in each round."""
        kind, op = iterable.kind, iterable.op
        self.use_up(iterable, node)
        if kind == "iterator":
            if op == "enumerate":
                pair = Value("sequence", node)
                inner = self.element(iterable.inputs[0], node) if iterable.inputs else Value(node=node)
                pair.parts = [Value("number", node, op="position"), inner]
                return pair
            if op == "zip":
                pair = Value("sequence", node)
                pair.parts = [self.element(one, node) for one in iterable.inputs]
                return pair
            if op == "range":
                return Value("number", node, op="position", inputs=iterable.inputs)
            return Value(node=node)
        if kind == "loader":
            return Value("batch", node, op="batch", inputs=(iterable,))
        if kind == "tensor":
            return self.result_of("index", node, [iterable], {}, "tensor")
        if kind in ("sequence", "module", "mapping") and iterable.parts:
            if op == "items":
                pair = Value("sequence", node)
                pair.parts = [Value("text", node), _either(iterable.parts, node)]
                return pair
            return _either(iterable.parts, node)
        made = Value("?", node, op="element", inputs=(iterable,))
        if op in ("parameters",):
            made.kind, made.grad, made.op = "tensor", True, "parameter"
        elif op.removeprefix("call:") in ("children", "modules"):
            made.op = "child"
        elif op.removeprefix("call:") in ("named_children", "named_modules"):
            pair = Value("sequence", node)
            pair.parts = [Value("text", node), Value("?", node, op="child", inputs=(iterable,))]
            return pair
        elif op == "named_parameters":
            pair = Value("sequence", node)
            parameter = Value("tensor", node, op="parameter", inputs=iterable.inputs)
            parameter.grad = True
            pair.parts = [Value("text", node), parameter]
            return pair
        return made

    def note_carried(self, loop: ast.AST, before: dict[str, Value], after: dict[str, Value]) -> None:
        raise NotImplementedError

    def note_forward(self, node: ast.AST, network: Value, arguments: Arguments, result: Value) -> None:
        """The call of a whole network: from outside of networks, and not of a loss."""
        cls = None if self.function is None else self.function.cls
        if network.api.endswith("Loss") or (cls is not None and cls.is_module()):
            return
        self.note("forward", node, network, arguments.positional, result)

    def note(self, act: str, node: Any, receiver: Value, given: list[Value], result: Value) -> None:
        """Write down an act of training that is no method's name: a network called, a loop over batches …"""
        site = Site(node, act, "", receiver, given, {}, given, result, self.spot(), False)
        self.steps.append(Step(act, receiver, site))

    def announce(
        self,
        node: Any,
        name: str,
        operation: str,
        receiver: Value | None,
        arguments: Arguments,
        operands: list[Value],
        result: Value,
        method: FunctionInfo | None = None,
    ) -> None:
        """Show the call to the checks that wait for its name or operation, and note it if it is a protocol's act."""
        last = "random" if name.startswith("jax.random.") else _last(name)
        makes_data = (result.kind == "dataset" and receiver is None) or (
            name == "construct" and "transform" in arguments.keywords
        )
        is_act = last in ACTS or makes_data
        wanted = self.listeners.wants(name, operation)
        escapes = name in ("opaque", "?") and _escapes(arguments)
        if not (is_act or wanted or escapes):
            return
        site = Site(
            node,
            name,
            operation,
            receiver,
            arguments.positional,
            arguments.keywords,
            operands,
            result,
            self.spot(),
            arguments.star,
        )
        if wanted:
            self.listeners.hear(site)
        if is_act and method is None:
            self.steps.append(Step(last if last in ACTS else "dataset", receiver, site))
        elif escapes:
            self.steps.append(Step("unknown", None, site))


@cache
def _last(name: str) -> str:
    return name.rpartition(".")[2]


def is_generator(value: Value) -> bool:
    """Can one go through it only once?"""
    if value.op in RUN_ONCE:
        return not (isinstance(value.node, ast.Call) and _is_call_of(value.node, "list", "tuple", "sorted", "reversed"))
    return value.op == "comprehension" and isinstance(value.node, ast.GeneratorExp)


def _of_function(function: FunctionInfo) -> Value:
    made = Value("function", function.node)
    made.info, made.unit = function, function.file
    return made


def _is_call_of(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _escapes(arguments: Arguments) -> bool:
    """Does something that trains go where we cannot follow?"""
    return any(one.kind in _OPAQUE for one in (*arguments.positional, *arguments.keywords.values()))


def _worth_reading(arguments: Arguments, bound: Value | None) -> bool:
    """Is anything known of the arguments that could matter inside the function?"""
    if bound is not None and bound.op != "self":
        return True
    return any(_tells_something(one) for one in (*arguments.positional, *arguments.keywords.values()))


def _is_made_in(function: FunctionInfo, value: Value) -> bool:
    """Was the object constructed by the function itself, so that each call gives a new one?"""
    return value.unit is function.file and function.contains(value.node)


def _literals(arguments: Arguments) -> tuple[object, ...]:
    """The numbers and words among the arguments: `block(3, 16)` and `block(16, 32)` make different layers."""
    return tuple(
        (name, value.const) for name, value in arguments.options().items() if isinstance(value.const, int | float | str)
    )


def _tells_something(value: Value) -> bool:
    kind = value.kind
    if kind in ("?", "tensor", "array", "number"):
        if value.lo is not None or value.hi is not None or value.device is not None or value.dtype is not None:
            return kind != "number" or not isinstance(value.const, int | float)
        return kind == "tensor" and (value.op in _FACTS or value.grad is True)
    if kind == "api":
        return bool(operation_of(value.api))  # an activation to be applied inside
    if kind == "sequence" and value.parts:
        return any(_tells_something(part) for part in value.parts[:4])
    return kind in _ACTORS


def _signature(arguments: Arguments) -> tuple[Any, ...] | None:
    """What decides how an object is made; None where identity matters."""
    found: list[Any] = []
    for name, value in arguments.options().items():
        if value.kind in ("module", "instance", "tensor", "sequence", "mapping", "function"):
            return None
        const = value.const
        found.append((name, value.kind, value.api, type(const), const if const.__hash__ is not None else ""))
    return (*found, arguments.star)


def _either(parts: list[Value], node: ast.AST) -> Value:
    result = parts[0]
    for other in parts[1:8]:
        result = joined(result, other, node)
    return result if len(parts) <= 8 else joined(result, Value(node=node), node)


def _device_named(value: Value) -> str | None:
    """The device a value stands for; "cuda?" is: a GPU, if there is one."""
    if isinstance(value.const, str):
        return value.const
    if value.op == "phi" and value.device is None:
        named = [_device_named(one) for one in value.inputs]
        return "cuda?" if any(one is not None and one.startswith("cuda") for one in named) else None
    return value.device


def _float_of(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return NOTHING
