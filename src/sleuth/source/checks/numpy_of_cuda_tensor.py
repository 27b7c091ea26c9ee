"""`.numpy()` of a tensor that lies on the GPU, or lies there on a machine that has one."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors

CALLS = ("tensor.numpy", "numpy.array", "numpy.asarray", "numpy.mean", "numpy.concatenate", "numpy.argmax", "numpy.sum")


def call(site: Site) -> Finding | None:
    tensor = site.receiver if site.name == "tensor.numpy" else site.args[0] if site.args else None
    forced = site.keywords.get("force")
    if tensor is None or tensor.kind != "tensor" or forced is not None or not _on_gpu(tensor):
        return None
    if site.name.startswith("numpy.") and tensor.op == "batch":
        return None
    surely = tensor.device is not None and tensor.device[:5] in ("cuda", "cuda:")
    moved = _moved(tensor)
    file = site.spot.file
    edits = (tell.before_method(file, site.node, ".cpu()"),) if site.name == "tensor.numpy" else ()
    return tell.found(
        "numpy-of-cuda-tensor",
        site,
        certainty="certain" if surely else "likely",
        severity="error" if surely else "warning",
        title=None if surely else "on a machine with a GPU this tensor lies there, where NumPy cannot read it",
        chain=[
            *([tell.because(moved, "here it goes to the GPU")] if moved is not None else []),
            tell.because(site.node, "NumPy reads only the computer's own memory", file),
        ],
        fixes=[Fix("copy it back first: .detach().cpu().numpy()", edits, safe=bool(edits))],
    )


def _on_gpu(tensor: Value) -> bool:
    return tensor.device is not None and tensor.device.startswith("cuda")


def _moved(tensor: Value) -> Value | None:
    return next((one for one in ancestors(tensor) if one.op in ("to", "cuda") and one.device == tensor.device), None)
