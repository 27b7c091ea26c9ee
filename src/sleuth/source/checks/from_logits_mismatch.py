"""A Keras loss whose `from_logits` does not fit the activation of the last layer."""

from __future__ import annotations

import ast

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import heads, keras, tell
from sleuth.source.scopes import File
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

CALLS = (
    "module.compile",
    "keras.losses.BinaryCrossentropy()",
    "keras.losses.CategoricalCrossentropy()",
    "keras.losses.SparseCategoricalCrossentropy()",
    "keras.losses.binary_crossentropy",
    "keras.losses.categorical_crossentropy",
    "keras.losses.sparse_categorical_crossentropy",
    "keras.backend.binary_crossentropy",
    "keras.backend.categorical_crossentropy",
    "keras.backend.sparse_categorical_crossentropy",
)


def call(site: Site) -> Finding | None:
    if site.name == "module.compile":
        compiled = keras.compiled(site)
        if compiled is None or compiled.loss not in keras.CROSS_ENTROPIES:
            return None
        return _mismatch(site, compiled.loss, compiled.output, compiled.from_logits, compiled.loss_value)
    output = site.operand(1, "y_pred", "output")
    if output is None or site.star:
        return None
    if site.name.endswith("()"):
        made = site.receiver
        return None if made is None else _mismatch(site, keras.loss_name(made), output, keras.takes_logits(made), made)
    given = site.operand(2, "from_logits")
    from_logits = False if given is None else given.const if isinstance(given.const, bool) else None
    return _mismatch(site, site.name.rpartition(".")[2], output, from_logits, None)


def _mismatch(site: Site, loss: str, output: Value, from_logits: bool | None, made: Value | None) -> Finding | None:
    squashed = made_by(output, "softmax", "sigmoid")
    raw = made_by(output, "linear", "conv")
    said = made if made is not None and made.node is not None else site.node
    file = site.spot.file
    if from_logits and squashed is not None:
        title = f"from_logits=True behind a {squashed.op}: it is applied twice"
        chain = [
            tell.because(squashed, f"the network ends in {squashed.op} and gives probabilities"),
            tell.because(said, f"from_logits=True: the loss applies {squashed.op} again", file),
        ]
        fix = Fix(f"take the {squashed.op} out of the network, or from_logits=True out of the loss", _off(file, made))
    elif from_logits is False and raw is not None and not _is_one_class(loss, output):
        title = "the last layer has no activation, and the loss expects probabilities"
        chain = [
            tell.because(raw, "the last layer has no activation: it gives raw scores"),
            tell.because(said, "without from_logits=True the loss takes them for probabilities", file),
        ]
        fix = Fix("give the loss from_logits=True", _on(file, made))
    else:
        return None
    return tell.found("from-logits-mismatch", site, title=title, chain=chain, fixes=[fix])


def _is_one_class(loss: str, output: Value) -> bool:
    """One unit and a loss over classes: a regression, or a softmax over nothing, is told instead."""
    return loss != "binary_crossentropy" and heads.width(output) == 1


def _off(file: File, loss: Value | None) -> tuple[Edit, ...]:
    keywords = loss.node.keywords if loss is not None and isinstance(loss.node, ast.Call) else []
    given = next((one.value for one in keywords if one.arg == "from_logits"), None)
    return (tell.replace(file, given, "False"),) if given is not None and loss is not None and loss.unit is file else ()


def _on(file: File, loss: Value | None) -> tuple[Edit, ...]:
    if loss is None or not isinstance(loss.node, ast.Call) or loss.unit is not file or loss.option("from_logits", "0"):
        return ()
    return (tell.add_argument(file, loss.node, "from_logits=True"),)
