"""F.dropout in a network without `training=`: it goes on in evaluation."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site

_NAMES = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
CALLS = tuple(f"torch.nn.functional.{name}" for name in _NAMES)


def call(site: Site) -> Finding | None:
    spot = site.spot
    if spot.cls is None or not spot.cls.is_module() or site.star or len(site.args) > 2 or "training" in site.keywords:
        return None
    rate = site.operand(1, "p")
    if rate is not None and (rate.number() == 0 or rate.op == "phi"):
        return None
    if spot.guarded_by("training") or "training" in spot.file.source(site.node):
        return None
    edit = tell.add_argument(spot.file, site.node, "training=self.training")
    takes_self = spot.function is not None and spot.function.is_method
    # The default of alpha_dropout is off: there the mistake is the opposite one.
    if site.name.endswith("alpha_dropout"):
        return None
    return tell.found(
        "dropout-always-on",
        site,
        certainty="likely",
        severity="warning",
        chain=[tell.because(site.node, "its default is training=True, whatever eval() said", spot.file)],
        fixes=[Fix("pass training=self.training", (edit,) if takes_self else ())],
    )
