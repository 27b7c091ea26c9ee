"""What a known message means in this very program: which of the pages that it may stand for, by what was at work."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from sleuth.findings import Certainty, Evidence, Fix, Link
from sleuth.known_errors import Match
from sleuth.live.crashes import arrays
from sleuth.live.crashes.at_hand import AtHand, Batch
from sleuth.live.crashes.scene import Layer, Scene

_NUMBER = re.compile(r"\d+")
_FLATTENING = ("flatten", "view", "reshape")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
# What cross_entropy leaves out by default.
_IGNORED = -100
# What torch's loader calls the indices of the batch that it fetches.
_DRAWN = "possibly_batched_index"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is to be said beyond the page's own words. `certainty` where it is another than the message's."""

    diagnosis: str
    title: str | None = None
    evidence: tuple[Evidence, ...] = ()
    chain: tuple[Link, ...] = ()
    fixes: tuple[Fix, ...] = ()
    certainty: Certainty | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """What a class of layers calls the number it is made for, and of which axis of its input it speaks."""

    attribute: str
    axis: int
    noun: str = "features"


_AXES = {1: -2, 2: -3, 3: -4}
_EXPECTED = {
    "Linear": Expected("in_features", -1),
    "LayerNorm": Expected("normalized_shape", -1),
    "RMSNorm": Expected("normalized_shape", -1),
    "MultiheadAttention": Expected("embed_dim", -1),
    "BatchNorm1d": Expected("num_features", 1),
    "GroupNorm": Expected("num_channels", 1, "channels"),
    **{f"{kind}{cell}": Expected("input_size", -1) for kind in ("LSTM", "GRU", "RNN") for cell in ("", "Cell")},
    **{f"Conv{n}d": Expected("in_channels", axis, "channels") for n, axis in _AXES.items()},
    **{f"ConvTranspose{n}d": Expected("in_channels", axis, "channels") for n, axis in _AXES.items()},
    **{f"BatchNorm{n}d": Expected("num_features", 1, "channels") for n in (2, 3)},
    **{f"InstanceNorm{n}d": Expected("num_features", axis, "channels") for n, axis in _AXES.items()},
}
_INPUTS = ("input", "query", "x")


def meaning(match: Match, scene: Scene, at_hand: AtHand) -> Meaning | None:
    """None where the message alone is not enough for any page."""
    signature = match.signature
    if at_hand.batch is not None and signature.diagnosis in _OF_SHAPES:
        found = _made_for_another_batch(match, at_hand.batch)
        if found is not None:
            return found
    refine = _BY_MESSAGE.get(signature.name) or _BY_DIAGNOSIS.get(signature.diagnosis or "")
    if refine is not None:
        return refine(match, scene, at_hand)
    return _as_it_stands(match)


def _as_it_stands(match: Match) -> Meaning | None:
    return Meaning(match.signature.diagnosis) if match.signature.diagnosis is not None else None


def _made_for_another_batch(match: Match, batch: Batch) -> Meaning | None:
    """The message names the usual number of samples, and this batch has another."""
    told = [int(number) for number in _NUMBER.findall(match.found[0])]
    has_size = batch.size in told or (match.signature.name == "view-size" and told[-1] % batch.size == 0)
    if batch.size == batch.usual or batch.usual < 2 or batch.usual not in told or not has_size:
        return None
    return Meaning(
        "batch-size-baked-in",
        f"works for batches of {batch.usual}, fails at one of {batch.size}",
        (Evidence("usual batch", batch.usual), Evidence("this batch", batch.size)),
        fixes=(Fix("take the size from the batch, e.g. `x.size(0)`; or DataLoader(drop_last=True)"),),
        certainty="likely",
    )


def _misfit(match: Match, scene: Scene, at_hand: AtHand) -> Meaning | None:
    layer = scene.layer
    diagnosis = match.signature.diagnosis or ""
    given = next((layer.given[name] for name in _INPUTS if name in layer.given), None) if layer is not None else None
    if layer is None or given is None:
        return Meaning("shape-mismatch" if match.signature.name.startswith("matmul") else diagnosis)
    if layer.kind == "Linear" and (at_hand.is_flattened(given) or _flattens(scene.expression)):
        diagnosis = "flatten-linear-mismatch"
    numbers = _numbers(layer, given)
    if numbers is None:
        return Meaning(diagnosis)
    expected, size, known = numbers
    told = f"{layer.called} is made for {expected} {known.noun} and is given {size}"
    return Meaning(
        diagnosis,
        told,
        chain=(*at_hand.history(given), Link(told, at_hand.made(layer.module))),
        fixes=(Fix(f"{layer.kind}({known.attribute} {expected} → {size}), or give it {expected} {known.noun}"),),
    )


def _numbers(layer: Layer, given: Any) -> tuple[int, int, Expected] | None:
    """What the layer is made for, and what its input has."""
    known = next((_EXPECTED[base.__name__] for base in type(layer.module).__mro__ if base.__name__ in _EXPECTED), None)
    if known is None:
        return None
    expected, shape = getattr(layer.module, known.attribute, None), arrays.sizes(given)
    if isinstance(expected, tuple) and len(expected) == 1:
        expected = expected[0]
    if not isinstance(expected, int) or not -len(shape) <= known.axis < len(shape) or shape[known.axis] == expected:
        return None
    return expected, shape[known.axis], known


def _flattens(expression: ast.AST | None) -> bool:
    called = [node.func for node in ast.walk(expression) if isinstance(node, ast.Call)] if expression else []
    return any(isinstance(func, ast.Attribute) and func.attr in _FLATTENING for func in called)


def _shapes(match: Match, scene: Scene, at_hand: AtHand) -> Meaning | None:
    signature = match.signature
    of_a_loss = scene.is_of_a_loss and "target-size-mismatch" in signature.also
    diagnosis = "target-size-mismatch" if of_a_loss else signature.diagnosis or ""
    operands = scene.operands
    links = [link for value in operands.values() if arrays.is_array(value) for link in at_hand.history(value)]
    title = None
    if diagnosis == "target-size-mismatch" and {"input", "target"} <= scene.given.keys():
        shapes = arrays.shape(scene.given["input"]), arrays.shape(scene.given["target"])
        title = f"the prediction is {shapes[0]}, the target {shapes[1]}"
    return Meaning(diagnosis, title, chain=tuple(dict.fromkeys(links)))


def _label(match: Match, scene: Scene, at_hand: AtHand) -> Meaning | None:
    """A label that the prediction has no column for: how many columns there are, and whose label it is."""
    scores, target = scene.given.get("input"), scene.given.get("target")
    if scores is None or target is None:
        return _as_it_stands(match)
    shape = arrays.sizes(scores)
    classes = shape[1] if len(shape) > 1 else shape[0]
    rows = arrays.rows_outside(target, 0, classes - 1, but=_IGNORED)
    evidence = (Evidence("classes", classes), *_culprits(rows, at_hand, _outside(classes, _IGNORED)))
    label = match.found.groupdict().get("target")
    return Meaning(
        "label-out-of-range", f"label {label} for {classes} classes (0 to {classes - 1})" if label else None, evidence
    )


def _embedding(match: Match, scene: Scene, at_hand: AtHand) -> Meaning | None:
    layer = scene.layer
    rows = getattr(layer.module, "num_embeddings", None) if layer is not None else None
    indices = scene.given.get("input")
    if layer is None or rows is None or indices is None:
        return Meaning("embedding-too-small" if scene.function.startswith("embedding") else "index-out-of-bounds")
    found = arrays.extremes(indices)
    title, fix = f"{layer.called} has {rows} rows", None
    if found is not None:
        low, high = found
        title += f", the index is {high if high >= rows else low}"
        beyond = Fix(f"Embedding(num_embeddings {rows} → {high + 1}), or map what is unknown to a row there is")
        fix = beyond if high >= rows else Fix("indices start at 0: look for what marks padding by a negative number")
    told = Link(f"{layer.called} has rows 0 to {rows - 1}", at_hand.made(layer.module))
    bad = arrays.rows_outside(indices, 0, rows - 1)
    return Meaning(
        "embedding-too-small",
        title,
        _culprits(bad, at_hand, _outside(rows)),
        (*at_hand.history(indices), told),
        (fix,) if fix is not None else (),
    )


def _outside(number: int, but: int | None = None) -> Callable[[int], bool]:
    return lambda value: not 0 <= value < number and value != but


def _culprits(rows: list[int], at_hand: AtHand, outside: Callable[[int], bool]) -> tuple[Evidence, ...]:
    """Which rows of the batch it is, and which samples of the data set where that is sure."""
    if not rows:
        return ()
    samples = at_hand.batch.confirmed(rows, outside) if at_hand.batch is not None else ()
    told = Evidence("rows in batch", tuple(rows))
    return (told, Evidence("samples", samples)) if samples else (told,)


def _types(match: Match, scene: Scene, at_hand: AtHand) -> Meaning | None:
    """A loss with targets of the wrong type, or an input in float64 for weights in float32."""
    scores, target = scene.given.get("input"), scene.given.get("target")
    if scene.is_of_a_loss and scores is not None and target is not None:
        wanted = "int64" if _wants_classes(scene.function) else arrays.dtype(scores)
        if arrays.dtype(target) != wanted:
            cast = ".long()" if wanted == "int64" else f".to(torch.{wanted})"
            return Meaning(
                "class-targets-as-float",
                f"{scene.function} wants targets of {wanted}, these are {arrays.dtype(target)}",
                fixes=(Fix(f"turn them into {wanted} where they are read: {cast}"),),
            )
    layer = scene.layer
    weights = {arrays.dtype(one) for one in layer.module.parameters()} if layer is not None else set()
    given = next(iter(layer.given.values()), None) if layer is not None else None
    if layer is None or given is None or len(weights) != 1:
        return _as_it_stands(match)
    weight, has = weights.pop(), arrays.dtype(given)
    diagnosis = "float64-into-float32-model" if (has, weight) == ("float64", "float32") else "dtype-mismatch"
    told = f"{layer.called} has weights of {weight} and is given {has}"
    fixes = (Fix(f"turn the input into {weight} where it is made: .to(torch.{weight})"),) if weight in _FLOATS else ()
    return Meaning(diagnosis, told, chain=(Link(told, at_hand.made(layer.module)),), fixes=fixes)


def _wants_classes(function: str) -> bool:
    return "binary" not in function and any(name in function for name in ("cross_entropy", "nll_loss", "multi_margin"))


def _no_parameters(match: Match, scene: Scene, at_hand: AtHand) -> Meaning | None:
    """An optimiser without parameters: of a model that has none, or of a generator that was walked before."""
    torch = sys.modules.get("torch")
    models = [(name, one) for name, one in scene.named.items() if torch and isinstance(one, torch.nn.Module)]
    bare = next(((name, one) for name, one in models if not any(True for _ in one.parameters())), None)
    if bare is None:
        walked = any(isinstance(value, Generator) for value in scene.named.values())
        return Meaning("consumed-generator") if walked else None
    name, model = bare
    for attribute, value in vars(model).items():
        parts = list(value.values()) if isinstance(value, dict) else value
        if not attribute.startswith("_") and isinstance(parts, list | tuple) and _has_layers(parts):
            kind = "a dictionary" if isinstance(value, dict) else "a list"
            told = f"{name}.{attribute} keeps layers in {kind}, where torch does not see them"
            named = "ModuleDict" if isinstance(value, dict) else "ModuleList"
            return Meaning(
                "modules-in-plain-list",
                told,
                (Evidence("parameters received", 0),),
                (Link(told, at_hand.made(model)),),
                (Fix(f"self.{attribute} = nn.{named}(...)"),),
                "certain",
            )
    return Meaning("layer-made-in-forward", f"{name} has no parameters when the optimiser is made", certainty="hint")


def _has_layers(parts: list[Any] | tuple[Any, ...]) -> bool:
    torch = sys.modules["torch"]
    return any(isinstance(part, torch.nn.Module) for part in parts)


def _card(match: Match, scene: Scene, at_hand: AtHand) -> Meaning | None:
    """Whoever asks for a card on the command line has not hard-coded it."""
    asked = any("cuda" in argument or "gpu" in argument for argument in sys.argv[1:])
    return Meaning("hard-coded-cuda", certainty="hint" if asked else None)


def _samples(match: Match, scene: Scene, at_hand: AtHand) -> Meaning | None:
    """Samples of one batch that differ: which of the data set they are, where the loader was at work."""
    drawn = next((spot.values[_DRAWN] for spot in scene.spots if _DRAWN in spot.values), None)
    entry = match.found.groupdict().get("entry")
    evidence: tuple[Evidence, ...] = ()
    if isinstance(drawn, list) and all(type(one) is int for one in drawn) and entry and int(entry) < len(drawn):
        evidence = (Evidence("samples", (drawn[0], drawn[int(entry)])),)
    return Meaning(match.signature.diagnosis or "", evidence=evidence)


def _name_missing(match: Match, scene: Scene, at_hand: AtHand) -> Meaning | None:
    """A name that is not there may have been removed, and may be misspelt."""
    missing = isinstance(scene.error, AttributeError | ImportError)
    return Meaning("removed-api", certainty="hint" if missing else None)


def _probabilities(match: Match, scene: Scene, at_hand: AtHand) -> Meaning | None:
    found = arrays.extremes(scene.given["input"]) if "input" in scene.given else None
    told = (Evidence("input minimum", found[0]), Evidence("input maximum", found[1])) if found is not None else ()
    return Meaning("logits-into-bce-loss", evidence=told)


def _no_leaf(match: Match, scene: Scene, at_hand: AtHand) -> Meaning | None:
    """It was computed; that it was moved is only the most frequent way."""
    return Meaning("parameter-moved-after-wrapping", certainty="likely")


Refine = Callable[[Match, Scene, AtHand], Meaning | None]

_OF_SHAPES = ("shape-mismatch", "linear-size-mismatch", "target-size-mismatch")
_BY_MESSAGE: dict[str, Refine] = {
    "embedding-index": _embedding,
    "target-out-of-bounds": _label,
    "bce-target-type": _types,
    "optimizer-empty": _no_parameters,
}
_BY_DIAGNOSIS: dict[str, Refine] = {
    "linear-size-mismatch": _misfit,
    "channel-mismatch": _misfit,
    "shape-mismatch": _shapes,
    "target-size-mismatch": _shapes,
    "wrong-number-of-dimensions": _shapes,
    "dtype-mismatch": _types,
    "class-targets-as-float": _types,
    "hard-coded-cuda": _card,
    "uneven-samples-stacked": _samples,
    "removed-api": _name_missing,
    "logits-into-bce-loss": _probabilities,
    "parameter-moved-after-wrapping": _no_leaf,
}
# Pages that are reached by looking at the scene alone.
REFINED = (
    *("batch-size-baked-in", "flatten-linear-mismatch", "float64-into-float32-model", "index-out-of-bounds"),
    *("consumed-generator", "modules-in-plain-list", "layer-made-in-forward"),
)
