"""Where the user's program made its Keras layers and optimisers."""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
import weakref
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any

import keras

from sleuth.findings import Place
from sleuth.live.wraps import Wraps
from sleuth.program import place_of, users_frame

Line = tuple[CodeType, int]

_PASSING_ON = (
    keras.layers.Dense,
    keras.layers.Dropout,
    keras.layers.Flatten,
    keras.layers.Reshape,
    keras.layers.InputLayer,
    keras.layers.Rescaling,
    keras.layers.Normalization,
)

_made: weakref.WeakKeyDictionary[Any, Line] = weakref.WeakKeyDictionary()
_wraps = Wraps()
_listeners = 0


def listen() -> Callable[[], None]:
    """From now on the line of each construction is known. Returns the way back."""
    global _listeners
    _listeners += 1
    if _listeners == 1:
        _tell_layers()
        _wraps.wrap(class_with("__init__", keras.optimizers.Optimizer), "__init__", _telling_init)
        # On the class that has it: Keras compares a model's own with that one to see whether it was overridden.
        _wraps.wrap(class_with("compile"), "compile", _telling_compile)
    return _stop_listening


def _stop_listening() -> None:
    global _listeners
    _listeners -= 1
    if not _listeners:
        _wraps.remove()


def class_with(method: str, kind: Any = keras.Model) -> Any:
    """The class that a method of models is written in: that of the backend, for some."""
    return next(base for base in kind.__mro__ if method in base.__dict__)


def _tell_layers() -> None:
    """By `__new__`: Keras reads the signatures of constructors, so those must stay as they are."""
    original = keras.Operation.__new__

    @functools.wraps(original)
    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(cls, *args, **kwargs)
        _note(made, users_frame(sys._getframe(1)))
        return made

    keras.Operation.__new__ = staticmethod(new)
    _wraps.also_undo(lambda: setattr(keras.Operation, "__new__", staticmethod(original)))


def _telling_init(original: Any) -> Any:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        _note(self, _maker(self, users_frame(sys._getframe(1))))

    return init


def _note(thing: Any, frame: FrameType | None) -> None:
    if frame is not None:
        _made.setdefault(thing, (frame.f_code, frame.f_lasti))


def _telling_compile(original: Any) -> Any:
    """An optimiser given by its name is made where the model is compiled."""

    def compile(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        frame = users_frame(sys._getframe(1))
        if getattr(self, "optimizer", None) is not None:
            _note(self.optimizer, frame)
        return result

    return compile


def _maker(thing: Any, frame: FrameType | None) -> FrameType | None:
    """The user's frame that made a thing: not the thing's own constructor."""
    while frame is not None and frame.f_code.co_name == "__init__":
        code = frame.f_code
        if not code.co_argcount or frame.f_locals.get(code.co_varnames[0]) is not thing:
            break
        outer = users_frame(frame.f_back)
        if outer is None:
            break
        frame = outer
    return frame


def line(thing: Any) -> Line | None:
    try:
        return _made.get(thing)
    except TypeError:
        return None


def place(thing: Any) -> Place | None:
    found = line(thing)
    return place_of(*found) if found is not None else None


def stands_at(frame: FrameType) -> Line | None:
    """For a frame of Keras's in which a layer works: where the user made the layer."""
    if frame.f_code.co_name != "__call__":
        return None
    layer = frame.f_locals.get("self")
    return line(layer) if isinstance(layer, keras.Layer) and not isinstance(layer, keras.Model) else None


def layers(model: Any) -> dict[str, Any]:
    """Every layer inside a model by its name, the model itself left out."""
    return {layer.name: layer for layer in model._flatten_layers(include_self=False, recursive=True)}


def name_of(variable: Any) -> str:
    """`dense.kernel`: the last two parts of a variable's path."""
    return ".".join(str(variable.path).split("/")[-2:])


def owner_of(variable: Any, model: Any) -> Any:
    for layer in layers(model).values():
        if any(v is variable for v in (*layer._trainable_variables, *layer._non_trainable_variables)):
            return layer
    return None


def usual_rate(optimizer: Any) -> float | None:
    """The learning rate of an optimiser of this kind that is told none."""
    rate = inspect.signature(type(optimizer).__init__).parameters.get("learning_rate")
    return float(rate.default) if rate is not None and isinstance(rate.default, int | float) else None


def linear_stack(model: Any) -> list[tuple[str, str, Place | None]]:
    """Pairs of dense layers with nothing between them, in a model that is made of such alone."""
    flat = isinstance(model, keras.Sequential) and all(isinstance(layer, _PASSING_ON) for layer in model.layers)
    dense = [layer for layer in model.layers if isinstance(layer, keras.layers.Dense)] if flat else []
    if any(layer.activation is not keras.activations.linear for layer in dense[:-1]):
        return []
    return [(first.name, second.name, place(second)) for first, second in itertools.pairwise(dense)]


def dropouts(model: Any) -> list[tuple[float, Place | None]]:
    found = [layer for layer in layers(model).values() if isinstance(layer, keras.layers.Dropout)]
    return [(float(layer.rate), place(layer)) for layer in found]


def settings(optimizer: Any) -> dict[str, float]:
    found = {}
    for name in ("weight_decay", "momentum"):
        value = getattr(optimizer, name, None)
        if isinstance(value, int | float) and value:
            found[name] = float(value)
    return found


def penalty(model: Any, values: Iterable[Any]) -> tuple[float, Place | None]:
    """What the regularisers add to the loss while the weights have these values, and where the layer of the largest
    is made."""
    pairs = zip(model.trainable_variables, values, strict=True)
    terms = [(v, float(keras.ops.convert_to_numpy(v.regularizer(value)))) for v, value in pairs if v.regularizer]
    if not terms:
        return 0.0, None
    largest = max(terms, key=lambda term: term[1])[0]
    return sum(value for _, value in terms), place(owner_of(largest, model))
