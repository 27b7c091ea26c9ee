"""What Keras layers and models give: the activation a layer ends in, a model's output, the loss it is compiled with."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from sleuth.findings import Edit
from sleuth.source import tell
from sleuth.source.operations import OF_LAYER, OF_SPELLING
from sleuth.source.scopes import ClassInfo
from sleuth.source.sites import Site, Step, Trace
from sleuth.source.values import Value

# Where the activation stands when it is given without its name.
_POSITION: Final = {
    "keras.layers.Dense": "1",
    "keras.layers.Activation": "0",
    "keras.layers.EinsumDense": "2",
    "tensorflow.layers.dense": "2",
}
_MODEL_CLASSES: Final = frozenset({"keras.Model", "keras.Sequential"})
# Where `compile` has its optimiser, loss and metrics when they are given without their names.
_COMPILE: Final = ("optimizer", "loss", "metrics")
_LOSS_NAMES: Final = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "huber_loss": "huber",
}
OVER_CLASSES: Final = frozenset({"categorical_crossentropy", "sparse_categorical_crossentropy"})
CROSS_ENTROPIES: Final = OVER_CLASSES | {"binary_crossentropy"}
DISTANCES: Final = frozenset(
    "mean_squared_error mean_absolute_error mean_absolute_percentage_error mean_squared_logarithmic_error huber "
    "log_cosh logcosh".split()
)


def activation(layer: Value) -> str | None:
    """The operation a layer applies to its own result: "" for none, None where it cannot be told."""
    if layer.op == "phi":
        either = {activation(one) for one in layer.inputs}
        return either.pop() if len(either) == 1 else None
    given = layer.option("activation", "activation_fn", _POSITION.get(layer.api, "activation"))
    if given is None or given.const is None:
        return ""
    if given.kind == "module":
        return OF_LAYER.get(given.api)
    word = given.const if isinstance(given.const, str) else given.api.rpartition(".")[2] if given.kind == "api" else ""
    return "" if word == "linear" else OF_SPELLING.get(word)


def is_model(value: Value) -> bool:
    """A whole Keras network: of a framework class, or of a class of the project that derives from one."""
    if isinstance(value.info, ClassInfo):
        return value.info.derives_from(*_MODEL_CLASSES)
    return value.kind == "module" and value.api in _MODEL_CLASSES


def outputs(model: Value) -> Value | None:
    """What `keras.Model(inputs, outputs)` was told to give."""
    return model.option("outputs", "1", "output") if model.api == "keras.Model" else None


def repeated(layer: Value) -> Value | None:
    """The layer that TimeDistributed applies at every step."""
    return layer.option("0", "layer") if layer.api == "keras.layers.TimeDistributed" else None


def fitted(trace: Trace) -> Iterator[tuple[Compiled, Step]]:
    """Each `fit` of a trace, with what the same network's last `compile` before it said."""
    said: dict[int, Compiled] = {}
    for step in trace.steps:
        if step.receiver is None or step.act not in ("compile", "fit"):
            continue
        if step.act == "compile":
            known = compiled(step.site)
            if known is not None:
                said[id(step.receiver)] = known
        elif id(step.receiver) in said:
            yield said[id(step.receiver)], step


def target(fit: Site) -> Value | None:
    """The labels that `fit(x, y)` was given."""
    return fit.keywords.get("y") or (fit.args[1] if len(fit.args) > 1 else None)


class Compiled:
    """What a call of `compile` says: the network's output, the loss and the metrics."""

    __slots__ = ("from_logits", "loss", "loss_value", "metrics", "output", "site")

    def __init__(self, site: Site, output: Value) -> None:
        given = {**dict(zip(_COMPILE, site.args, strict=False)), **site.keywords}
        self.site = site
        self.output = output
        loss = given.get("loss")
        self.loss_value = loss
        self.loss = loss_name(loss) if loss is not None else ""
        self.from_logits = None if loss is None else takes_logits(loss)
        metrics = given.get("metrics")
        self.metrics = [] if metrics is None or metrics.parts is None else metrics.parts

    @property
    def over_classes(self) -> bool:
        return self.loss in OVER_CLASSES

    def written(self, value: Value | None, text: str) -> tuple[Edit, ...]:
        """The edit that writes something else in place of a string inside the call of `compile`."""
        if value is None or not isinstance(value.const, str):
            return ()
        # The string may come from elsewhere, even from another file.
        inside = next((node for node in ast.walk(self.site.node) if node is value.node), None)
        return () if inside is None else (tell.replace(self.site.spot.file, inside, f'"{text}"'),)

    def measures_accuracy(self) -> Value | None:
        return next((one for one in self.metrics if one.const in ("accuracy", "acc")), None)


def compiled(site: Site) -> Compiled | None:
    """What the interpreter learnt of a network at its `compile`; None for something else that is called so."""
    output = site.result.attrs.get("output")
    return None if output is None else Compiled(site, output)


def loss_name(loss: Value) -> str:
    """A loss by the name it has as a string, also where it is given as a function or an object."""
    if isinstance(loss.const, str):
        name = loss.const
    elif loss.api.startswith(("keras.losses.", "keras.metrics.", "keras.objectives.")):
        name = loss.api.rpartition(".")[2]
    else:
        return ""
    if name[:1].isupper():
        name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]
    return _LOSS_NAMES.get(name, name)


def takes_logits(loss: Value) -> bool | None:
    """The `from_logits` of a loss: False is the default of every Keras loss, None where it is not a literal."""
    given = loss.option("from_logits")
    if given is None:
        position = "0" if loss.kind == "module" else ""
        given = loss.options.get(position)
    if given is None:
        return False
    return given.const if isinstance(given.const, bool) else None
