"""`.numpy()` of a tensor through which gradients flow: torch refuses it."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors
from sleuth.source.weights import holds_weights, is_parameter

CALLS = ("tensor.numpy",)


def call(site: Site) -> Finding | None:
    tensor = site.receiver
    if tensor is None or tensor.grad is not True or site.keywords.get("force") is not None or site.spot.without_grad:
        return None
    source = next((one for one in ancestors(tensor) if _starts_a_graph(one)), None)
    if source is None or "set_grad_enabled" in site.spot.file.text:
        return None
    # A function may be called inside no_grad() by somebody whom we do not see.
    seen_whole = site.spot.function is None or bool(site.spot.calls)
    edit = tell.before_method(site.spot.file, site.node, ".detach()")
    return tell.found(
        "numpy-of-grad-tensor",
        site,
        certainty="certain" if seen_whole else "likely",
        severity="error" if seen_whole else "warning",
        chain=[
            tell.because(source, "gradients are recorded from here on"),
            tell.because(site.node, "NumPy knows nothing of gradients, so torch raises an error", site.spot.file),
        ],
        fixes=[Fix("detach it first: .detach().numpy(); or compute it under torch.no_grad()", (edit,), safe=True)],
    )


def _starts_a_graph(value: Value) -> bool:
    if is_parameter(value):
        return True
    asked = value.option("requires_grad")
    if asked is not None and asked.const is True:
        return True
    layered = value.op in ("linear", "conv", "embedding", "recurrent", "module") and value.grad is True
    return layered and any(one.kind == "module" and holds_weights(one) for one in value.inputs)
