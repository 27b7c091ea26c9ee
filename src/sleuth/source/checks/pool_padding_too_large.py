"""A pooling layer whose padding is more than half of its window: torch refuses it."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.layer_shapes import numbers
from sleuth.source.sites import Site

_WORDS = [(kind, n) for kind in ("Max", "Avg") for n in (1, 2, 3)]
CALLS = (
    *(f"torch.nn.{kind}Pool{n}d" for kind, n in _WORDS),
    *(f"torch.nn.functional.{kind.lower()}_pool{n}d" for kind, n in _WORDS),
)


def call(site: Site) -> Finding | None:
    shift = 1 if ".functional." in site.name else 0
    count = int(site.name[-2])
    padding = site.operand(2 + shift, "padding")
    windows = numbers(site.operand(shift, "kernel_size"), count, None)
    spread = [1] * count if "avg" in site.name.lower() else numbers(site.operand(3 + shift, "dilation"), count, 1)
    if padding is None or site.star:
        return None
    for window, pad, step in zip(windows, numbers(padding, count, 0), spread, strict=True):
        if window is None or pad is None or step is None:
            continue
        most = ((window - 1) * step + 1) // 2
        if pad > most and not site.spot.file.is_test:
            return tell.found(
                "pool-padding-too-large",
                site,
                title=f"padding {pad} is more than half of the window of {window}",
                chain=[tell.because(padding, f"a window of {window} can have a padding of {most} at most")],
                fixes=[Fix(f"padding={most}, or pad the input with F.pad before it")],
            )
    return None
