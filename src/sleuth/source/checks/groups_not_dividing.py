"""Channels that do not divide into the groups or heads asked for: the layer cannot be made."""

from __future__ import annotations

from typing import Final

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.layer_shapes import whole
from sleuth.source.sites import Site

# Where the number of groups stands, its name, and what it must divide.
_CONVOLUTION: Final = (6, "groups", ((0, "in_channels"), (1, "out_channels")))
_RULES: Final[dict[str, tuple[int, str, tuple[tuple[int, str], ...]]]] = {
    **{f"torch.nn.Conv{n}d": _CONVOLUTION for n in (1, 2, 3)},
    **{f"torch.nn.ConvTranspose{n}d": (6, "groups", _CONVOLUTION[2]) for n in (1, 2, 3)},
    "torch.nn.GroupNorm": (0, "num_groups", ((1, "num_channels"),)),
    "torch.nn.MultiheadAttention": (1, "num_heads", ((0, "embed_dim"),)),
    "torch.nn.TransformerEncoderLayer": (1, "nhead", ((0, "d_model"),)),
    "torch.nn.TransformerDecoderLayer": (1, "nhead", ((0, "d_model"),)),
    "torch.nn.Transformer": (1, "nhead", ((0, "d_model"),)),
}
CALLS = tuple(_RULES)


def call(site: Site) -> Finding | None:
    position, name, dividends = _RULES[site.name]
    groups = whole(site.operand(position, name))
    if groups is None or groups < 1 or "try" in site.spot.guards:
        return None
    for where, what in dividends:
        channels = whole(site.operand(where, what))
        if channels is not None and channels % groups and not site.spot.file.is_test:
            return tell.found(
                "groups-not-dividing",
                site,
                title=f"{what} {channels} is not divisible by {name} {groups}",
                fixes=[Fix(f"choose a {name} that divides {channels}: {_divisors(channels)}")],
            )
    return None


def _divisors(number: int) -> str:
    found = [str(one) for one in range(1, min(number, 64) + 1) if number % one == 0]
    return ", ".join(found[:8])
