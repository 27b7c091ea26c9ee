"""What a Keras model computes on its way: every layer's output in order, and what the user's own code does between."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

import keras
from keras.src import backend
from keras.src.ops.operation import Operation

from sleuth.compare.sides import keras_tensors, keras_words
from sleuth.compare.values import Array, Value
from sleuth.findings import Place
from sleuth.program import is_users, place_at

# Layers that end with a projection of what they attended to.
_ATTENTION = ("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention")


class Taps:
    """Holds what was recorded while it was open; each tensor once, under the first name it had."""

    def __init__(self, as_array: Callable[[Any], Array], wanted: Collection[str] | None = None) -> None:
        self.values: list[Value] = []
        self.arrays: dict[str, Array] = {}
        self._as_array = as_array
        self._wanted = None if wanted is None else set(wanted)
        self._path: list[Any] = []
        self._counts: dict[str, int] = {}
        # Kept alive, so that an id stays one tensor's.
        self._seen: dict[int, Any] = {}
        self._muted = 0
        self._bottom: types.FrameType | None = None

    def watch(self, call: Callable[[], Any]) -> Any:
        """Every layer, every function of keras.ops and every operator on tensors reports here meanwhile."""
        self._bottom = sys._getframe()
        with ExitStack() as stack:
            self._open(stack)
            result = call()
        self._seen.clear()
        return result

    def _open(self, stack: ExitStack) -> None:
        stack.enter_context(keras_tensors.replaced(Operation, "__call__", self._tapped_call(Operation.__call__)))
        for module in (backend.nn, backend.numpy, backend.math, backend.image, backend.linalg):
            for name, function in list(vars(module).items()):
                if isinstance(function, types.FunctionType) and not name.startswith("_") and _of_backend(function):
                    stack.enter_context(keras_tensors.replaced(module, name, self._tapped(name, function)))
        for kind in keras_tensors.kinds():
            for name, word in keras_words.OPERATORS.items():
                for method in (f"__{name}__", f"__r{name}__"):
                    if callable(getattr(kind, method, None)):
                        function = getattr(kind, method)
                        stack.enter_context(keras_tensors.replaced(kind, method, self._tapped(word, function)))

    def _tapped_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def call(operation: Any, *args: Any, **kwargs: Any) -> Any:
            if self._muted or not keras_tensors.are_numbers(args, kwargs):
                return original(operation, *args, **kwargs)
            if not isinstance(operation, keras.layers.Layer):
                return self._function(operation, original, args, kwargs)
            return self._layer(operation, original, args, kwargs)

        return call

    def _function(self, operation: Any, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """A function of keras.ops that stands in a functional model's graph."""
        with self._quiet():
            result = original(operation, *args, **kwargs)
        word = keras_words.of_function(_snake(type(operation).__name__), keras_tensors.rank_of(args))
        self._record(result, word, self._named(operation.name))
        return result

    def _layer(self, layer: Any, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        self._arguments(layer, args)
        self._path.append(layer)
        try:
            if isinstance(layer, keras.layers.RNN):
                with self._quiet():
                    result = original(layer, *args, **kwargs)
            else:
                with self._tapped_activation(layer):
                    result = original(layer, *args, **kwargs)
            fused = _is_fused(layer)
            self._record(result, keras_words.of_activation(layer) if fused else keras_words.of_layer(layer))
        finally:
            self._path.pop()
        return result

    def _arguments(self, layer: Any, args: Any) -> None:
        """What a layer is given was computed by code that reports nothing, if it is not known by now."""
        if not self._path:
            for leaf in keras.tree.flatten(args):
                self._seen[id(leaf)] = leaf
        elif type(self._path[-1]).__name__ in _ATTENTION and layer is getattr(self._path[-1], "_output_dense", None):
            self._record(args[:1], "scaled_dot_product_attention", self._named("attention"))
        elif _is_users(self._path[-1]):
            self._record(args, "", self._named(f"into {layer.name}"))

    @contextmanager
    def _tapped_activation(self, layer: Any) -> Iterator[None]:
        """A layer with a fused activation has two values: what goes into the activation has the layer's word."""
        if not _is_fused(layer):
            yield
            return
        original = layer.activation

        def activation(x: Any, *args: Any, **kwargs: Any) -> Any:
            self._record(x, keras_words.of_layer(layer), self._named("before activation"))
            with self._quiet():
                return original(x, *args, **kwargs)

        vars(layer)["activation"] = wraps(original)(activation) if hasattr(original, "__name__") else activation
        try:
            yield
        finally:
            vars(layer)["activation"] = original

    def _tapped(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if (
                self._muted
                or not self._path
                or not _is_users(self._path[-1])
                or not keras_tensors.are_numbers(args, kwargs)
            ):
                return original(*args, **kwargs)
            with self._quiet():
                result = original(*args, **kwargs)
            if result is not NotImplemented:
                self._record(result, keras_words.of_function(name, keras_tensors.rank_of(args)), self._named(name))
            return result

        return call

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        self._muted += 1
        try:
            yield
        finally:
            self._muted -= 1

    def _named(self, last: str = "") -> str:
        return ".".join([layer.name for layer in self._path[1:]] + ([last] if last else []))

    def _record(self, result: Any, word: str, name: str | None = None) -> None:
        name = self._named() if name is None else name
        leaves = [leaf for leaf in keras.tree.flatten(result) if keras_tensors.is_of_floats(leaf)]
        fresh = [leaf for leaf in leaves if id(leaf) not in self._seen]
        if not fresh or not name:
            return
        count = self._counts.get(name, 0)
        self._counts[name] = count + 1
        name = f"{name}:{count}" if count else name
        place = self._place()
        for position, leaf in enumerate(leaves):
            self._seen[id(leaf)] = leaf
            if not any(leaf is one for one in fresh):
                continue
            full = f"{name}[{position}]" if position else name
            if self._wanted is None or full in self._wanted:
                self.values.append(Value(full, word, self._named() or name, place))
                self.arrays[full] = self._as_array(leaf)

    def _place(self) -> Place | None:
        """The line of the user's own `call` that is being run."""
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and frame is not self._bottom:
            if is_users(frame.f_code.co_filename):
                return place_at(frame.f_code.co_filename, frame.f_lineno)
            frame = frame.f_back
        return None


def _of_backend(function: types.FunctionType) -> bool:
    return function.__module__.startswith("keras.src.backend.") and "convert" not in function.__name__


def _is_fused(layer: Any) -> bool:
    return bool(keras_words.of_activation(layer)) and type(layer).__name__ != "Activation" and _is_affine(layer)


def _is_affine(layer: Any) -> bool:
    return callable(layer.activation) and keras_words.of_layer(layer).startswith(("linear", "conv"))


def _is_users(layer: Any) -> bool:
    """Is its `call` written outside Keras, so that what it computes inside is worth telling?"""
    for kind in type(layer).__mro__:
        if "call" in vars(kind):
            return not kind.__module__.startswith("keras.src.")
    return False


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() and place else c.lower() for place, c in enumerate(name))
