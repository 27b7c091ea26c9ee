"""A NumPy function on a tensor that has no numbers yet: of a Keras or TensorFlow graph, or in a tf.function."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors

_FUNCTIONS = (
    "log exp sqrt sum mean max min abs square power dot matmul maximum minimum clip concatenate stack reshape "
    "transpose argmax array asarray expand_dims squeeze where sin cos tan tanh prod std var sign floor ceil round "
    "multiply add subtract divide log1p expm1 linalg.norm cumsum sort argsort einsum tile repeat pad"
).split()
CALLS = tuple(f"numpy.{name}" for name in _FUNCTIONS)
_SYMBOLIC = ("symbolic", "api:keras.Input")
_MOST = 400
_KERAS_PARTS = ("keras.Model", "keras.Sequential", "keras.layers.Layer")


def call(site: Site) -> Finding | None:
    within = _graph_around(site)
    given = next((one for one in site.args if one.kind == "tensor" or (within and one.op.startswith("param:"))), None)
    if given is None or given.kind not in ("tensor", "?"):
        return None
    source = next((one for one in _computed_from(given) if _is_symbolic(one)), None)
    if source is None and (not within or not _is_given(given, site)):
        return None
    sure = source is not None
    return tell.found(
        "numpy-in-symbolic-graph",
        site,
        title=f"{site.name.replace('numpy.', 'np.')} of a tensor that has no numbers yet",
        certainty="certain" if sure else "likely",
        severity="error" if sure else "warning",
        chain=[
            tell.because(source or given, within or "from here on the tensor is symbolic: a place in a graph"),
            tell.because(site.node, "NumPy needs the numbers, now", site.spot.file),
        ],
        fixes=[Fix("use the framework's function: tf.math, tf.*, keras.ops")],
    )


def _is_symbolic(value: Value) -> bool:
    return value.op in _SYMBOLIC or value.api.endswith(".placeholder")


def _computed_from(value: Value) -> Iterator[Value]:
    """What it was computed from, now: a model that is called gives numbers where it is given numbers."""
    todo, seen = [value], set[int]()
    while todo and len(seen) < _MOST:
        one = todo.pop()
        if id(one) not in seen and one.kind not in ("module", "instance", "array"):
            seen.add(id(one))
            yield one
            todo += one.inputs[1:] if one.op == "network" else one.inputs


def _graph_around(site: Site) -> str:
    """Why the code here is turned into a graph; "" where it is not."""
    function = site.spot.function
    if function is None:
        return ""
    if function.decorated_with("tensorflow.function"):
        return f"{function.name} is a tf.function: its tensors are symbolic"
    if function.name == "call" and function.cls is not None and function.cls.derives_from(*_KERAS_PARTS):
        return "a layer's call is traced into a graph: its tensors are symbolic"
    return ""


def _is_given(value: Value, site: Site) -> bool:
    """Does it come from an argument of the traced function? Constants made inside have numbers."""
    names = {f"param:{one.arg}" for one in site.spot.function.parameters()} if site.spot.function is not None else set()
    return any(one.op in names or one.op == "module" for one in ancestors(value))
