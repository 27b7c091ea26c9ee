"""A softmax of torch without `dim`: torch guesses it from the number of dimensions."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site

# These guess, and warn; the others (torch.softmax, x.softmax) refuse.
_GUESS = (
    "torch.nn.functional.softmax",
    "torch.nn.functional.log_softmax",
    "torch.nn.functional.softmin",
    "torch.nn.Softmax",
    "torch.nn.LogSoftmax",
    "torch.nn.Softmin",
)
_REFUSE = ("torch.softmax", "torch.log_softmax")
CALLS = (*_GUESS, *_REFUSE)


def call(site: Site) -> Finding | None:
    is_layer = site.name.startswith("torch.nn.") and "functional" not in site.name
    given = site.args[0 if is_layer else 1 :]
    dimension = site.keywords.get("dim") or site.keywords.get("axis") or (given[0] if given else None)
    if site.star or (dimension is not None and dimension.const is not None):
        return None
    if site.name in _REFUSE and dimension is not None:
        return None
    refused = site.name in _REFUSE
    says = "torch refuses a call without it" if refused else "torch takes 0 for one or three dimensions, else 1"
    edits = (tell.add_argument(site.spot.file, site.node, "dim=-1"),) if dimension is None else ()
    return tell.found(
        "softmax-without-dim",
        site,
        certainty="certain" if refused else "likely",
        severity="error" if refused else "warning",
        chain=[tell.because(site.node, f"no dim is given: {says}", site.spot.file)],
        fixes=[Fix("say dim=-1, the classes (dim=1 for images)", edits)],
    )
