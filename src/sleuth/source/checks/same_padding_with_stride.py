"""A convolution of torch with `padding="same"` and a stride: torch refuses it."""

from __future__ import annotations

import ast
from typing import Any

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import tell
from sleuth.source.layer_shapes import numbers
from sleuth.source.sites import Site
from sleuth.source.values import Value

_DIMENSIONS = (1, 2, 3)
CALLS = (
    *(f"torch.nn.Conv{n}d" for n in _DIMENSIONS),
    *(f"torch.nn.functional.conv{n}d" for n in _DIMENSIONS),
)


def call(site: Site) -> Finding | None:
    padding = site.operand(4, "padding")
    stride = site.operand(3, "stride")
    count = int(site.name[-2])
    if padding is None or padding.const != "same" or stride is None:
        return None
    steps = [step for step in numbers(stride, count, 1) if step is not None and step > 1]
    if not steps or site.spot.file.is_test:
        return None
    return tell.found(
        "same-padding-with-stride",
        site,
        title=f'padding="same" with stride {steps[0]}: torch supports it for stride 1 only',
        chain=[tell.because(stride, f"the stride is {steps[0]}")],
        fixes=[_fix(site, count)],
    )


def _fix(site: Site, count: int) -> Fix:
    sizes = numbers(site.operand(2, "kernel_size"), count, None) if site.name.startswith("torch.nn.Conv") else [None]
    known = [size for size in sizes if size is not None]
    if len(known) != len(sizes) or any(size % 2 == 0 for size in known):
        return Fix("give the padding as a number: half of (kernel - 1)")
    halves = [size // 2 for size in known]
    text = str(halves[0]) if len(set(halves)) == 1 else str(tuple(halves))
    return Fix(f"padding={text} keeps the size at stride 1 and divides it here", _written(site, text))


def _written(site: Site, text: str) -> tuple[Edit, ...]:
    node: Any = next((one.value for one in site.node.keywords if one.arg == "padding"), None)
    value: Value | None = site.operand(4, "padding")
    if node is None and len(site.node.args) > 4:
        node = site.node.args[4]
    literal = isinstance(node, ast.Constant) and value is not None
    return (tell.replace(site.spot.file, node, text),) if literal else ()
