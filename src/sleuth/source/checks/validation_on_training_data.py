"""A validation or test on the very data the network was trained on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import datasets, loading, tell
from sleuth.source.sites import Site, Step, Trace
from sleuth.source.values import Value

CALLS = ("*.fit",)


def call(site: Site) -> Finding | None:
    """Keras: fit(x, y, validation_data=(x, y))."""
    held = site.keywords.get("validation_data")
    features = site.args[0] if site.args else site.keywords.get("x")
    if held is None or features is None:
        return None
    checked = held.parts[0] if held.kind == "sequence" and held.parts else held
    if checked is not features or not _are_spelled_alike(site.node):
        return None
    return tell.found(
        "validation-on-training-data",
        site,
        title="the model is validated on the data it is trained on",
        certainty="certain",
        severity="error",
        chain=[tell.because(site.node, "x and validation_data are the same data", site.spot.file)],
        fixes=[Fix("hold data back: validation_split=0.2, or a set of its own")],
    )


def _are_spelled_alike(call: ast.Call) -> bool:
    """The same expression for both: two calls of one function may give different data."""
    held = next((one.value for one in call.keywords if one.arg == "validation_data"), None)
    features = call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "x"), None)
    if isinstance(held, ast.Tuple | ast.List) and held.elts:
        held = held.elts[0]
    if not isinstance(features, ast.Name | ast.Attribute) or held is None:
        return False
    return ast.dump(features) == ast.dump(held)


def trace(trace: Trace) -> Iterator[Finding]:
    """torch: a loader called a test loader, over a data set made with train=True, that another loop learns from."""
    learnt = [loader.option("dataset", "0") for _, loader in loading.learnt_from(trace)]
    for loop, loader in loading.loops_over_loaders(trace):
        data = loader.option("dataset", "0")
        if data is None or data.kind != "dataset" or datasets.part_of(data) != "train" or not _says_test(loop):
            continue
        taught = next((one for one in learnt if one is not None and _same_data(one, data)), None)
        if taught is None or _is_a_part(loader):
            continue
        yield tell.found(
            "validation-on-training-data",
            loop.site,
            node=data.node,
            file=data.unit,
            certainty="likely",
            severity="warning",
            chain=[
                tell.because(taught, "the network learns from this"),
                tell.because(data, "the test set is the training set too: train=True"),
                tell.because(loop.node, "it is used as test data here", loop.site.spot.file),
            ],
            fixes=[Fix("pass train=False for the test set")],
        )


def _says_test(loop: Step) -> bool:
    names = [one.id for one in ast.walk(loop.node.iter) if isinstance(one, ast.Name)]
    return any(datasets.sounds_like(name) == "test" for name in names)


def _same_data(one: Value, other: Value) -> bool:
    return one.api == other.api and datasets.part_of(one) == datasets.part_of(other)


def _is_a_part(loader: Value) -> bool:
    """A sampler may pick a part that was held back."""
    return loader.option("sampler", "3", "batch_sampler", "4") is not None
