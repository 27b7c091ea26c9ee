"""Resizing by another rule: where the corners lie, nearest or linear or cubic, antialiased or not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import argument
from sleuth.compare.causes._calls import subject
from sleuth.compare.causes._resampling import Rule, resized
from sleuth.compare.reference import Call

_RESIZE = re.compile(r"_?upsample_(nearest_exact|nearest|linear|bilinear|bicubic|trilinear)(\d)d(_aa)?")
OPS = frozenset(
    f"{lead}upsample_{kind}{tail}"
    for kind in ("nearest1d", "nearest2d", "nearest3d", "linear1d", "bilinear2d", "trilinear3d", "bicubic2d")
    for lead, tail in (("", ""), ("_", "_aa"))
) | {f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)}
_FIRST_FOR_ONE = "half pixel, and the first for one"
_LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    tensor, known = subject(call), _RESIZE.fullmatch(call.op)
    if tensor is None or known is None:
        return
    count = int(known[2])
    sizes = tuple(call.again().shape[-count:])
    own = _described(known[1], bool(known[3]), bool(argument(call, "align_corners")), count)
    for says, rule in _rules(count, sizes, tensor):
        if says != own:
            yield Proposal(
                f"it is resized as {says}, not as {own}",
                f"resize as the reference does: {own}",
                lambda call, rule=rule: resized(subject(call), sizes, rule),  # type: ignore[misc, arg-type]
            )
    yield from _other_ratio(call, tensor, sizes, own)


def _described(kind: str, smooth: bool, corners: bool, count: int) -> str:
    if kind == "nearest":
        return "nearest (floor of asymmetric places)"
    if kind == "nearest_exact":
        return "nearest (centres of pixels)"
    return f"{kind}{', antialiased' if smooth else ''} with {'aligned corners' if corners else 'half-pixel centres'}"


def _rules(count: int, sizes: tuple[int, ...], tensor: Tensor) -> Iterable[tuple[str, Rule]]:
    linear = _LINEAR[count]
    yield "nearest (floor of asymmetric places)", Rule("nearest floor", "asymmetric")
    yield "nearest (centres of pixels)", Rule("nearest up", "half pixel")
    yield "nearest (centres of pixels, halves down)", Rule("nearest down", "half pixel")
    yield "nearest with aligned corners", Rule("nearest up", "aligned corners")
    yield "nearest (rounded asymmetric places)", Rule("nearest down", "asymmetric")
    shrinks = any(new < old for new, old in zip(sizes, tensor.shape[-count:], strict=True))
    for kernel, word in (("linear", linear), *((("cubic", "bicubic"),) if count == 2 else ())):
        yield f"{word} with half-pixel centres", Rule(kernel, "half pixel")
        yield f"{word} with aligned corners", Rule(kernel, "aligned corners")
        yield f"{word} with asymmetric places", Rule(kernel, "asymmetric")
        if 1 in sizes:
            yield f"{word} with the first pixel where one is wanted (pytorch_half_pixel)", Rule(kernel, _FIRST_FOR_ONE)
        if shrinks:
            yield f"{word}, antialiased with half-pixel centres", Rule(kernel, "half pixel", True, -0.5)
    if count == 2:
        yield "bicubic (a = -0.5) with half-pixel centres", Rule("cubic", "half pixel", False, -0.5)
        yield (
            "bicubic (a = -0.5, no pixels from outside) with half-pixel centres",
            Rule("cubic", "half pixel", True, -0.5),
        )


def _other_ratio(call: Call, tensor: Tensor, sizes: tuple[int, ...], own: str) -> Iterable[Proposal]:
    """A scale factor that does not fit the sizes exactly: some libraries use it, some use the sizes."""
    factors = call.arguments.get("scale_factors")
    if not factors or argument(call, "align_corners"):
        return
    if all(
        abs(old * factor - new) < 1e-9
        for old, factor, new in zip(tensor.shape[-len(sizes) :], factors, sizes, strict=True)
    ):
        return
    yield Proposal(
        f"it is resized as {own}, by the ratio of the sizes instead of the scale factor itself",
        "give the size to both, or recompute_scale_factor=False",
        lambda call: call.again(scale_factors=None, output_size=list(sizes)),
    )
