"""A softmax over a single unit, or a cross-entropy over a single class."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import heads, keras, losses, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

_SOFTMAXES = ("softmax", "log_softmax")
OPERATIONS = (*_SOFTMAXES, "cross_entropy", "nll_loss", "bce", "mse")
CALLS = ("module.compile", "keras.layers.Dense")
_FIX = Fix("for two classes use one unit with a sigmoid and binary cross-entropy, or two units with a softmax")


def operation(site: Site) -> Finding | None:
    if site.op in _SOFTMAXES:
        return _constant(site, site.result) if heads.over_units(site.result) else None
    answer = losses.prediction(site)
    if answer is None or not site.name.startswith("torch."):
        return None
    if answer.op in _SOFTMAXES:
        # (N, 1) over dim 1. An attention over time, (N, T, 1), is a softmax too, but does not go into a loss.
        over = heads.dimension(answer)
        return _constant(site, answer) if over is None or over.const == 1 else None
    target = losses.target(site)
    if site.op == "cross_entropy" and answer.op == "linear" and target is not None and not losses.is_continuous(target):
        return _one_class(site, answer)
    return None


def call(site: Site) -> Finding | None:
    if site.name == "keras.layers.Dense":
        units = site.result.option("units", "0")
        alone = units is not None and units.const == 1 and keras.activation(site.result) == "softmax"
        return _told(site, site.result, site.result) if alone else None
    compiled = keras.compiled(site)
    if compiled is None:
        return None
    if compiled.output.op == "softmax":
        return _constant(site, compiled.output)
    return _one_class(site, compiled.output) if compiled.output.op == "sigmoid" and compiled.over_classes else None


def _constant(site: Site, softmax: Value) -> Finding | None:
    layer = heads.layer_of(softmax)
    return _told(site, softmax, layer) if layer is not None and heads.width(softmax) == 1 else None


def _told(site: Site, softmax: Value, layer: Value) -> Finding:
    return tell.found(
        "one-unit-softmax",
        site,
        node=softmax.node,
        file=softmax.unit,
        chain=[tell.because(layer, "the layer has one unit: exp(z) / exp(z) is 1, whatever z is")],
        fixes=[_FIX],
    )


def _one_class(site: Site, answer: Value) -> Finding | None:
    layer = heads.layer_of(answer)
    if layer is None or heads.width(answer) != 1:
        return None
    return tell.found(
        "one-unit-softmax",
        site,
        title="cross-entropy over a single class is always 0",
        chain=[
            tell.because(layer, "the last layer has one unit: there is one class"),
            tell.because(site.node, "its probability is 1 for every sample, and the loss log 1 = 0", site.spot.file),
        ],
        fixes=[_FIX],
    )
