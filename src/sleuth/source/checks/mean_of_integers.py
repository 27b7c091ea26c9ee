"""The mean of whole numbers or of truth values, which torch does not compute."""

from __future__ import annotations

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import tell
from sleuth.source.dtypes import INTEGERS
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors

CALLS = ("tensor.mean", "tensor.std", "tensor.var", "torch.mean", "torch.std", "torch.var")


def call(site: Site) -> Finding | None:
    tensor = site.operands[0] if site.operands else None
    if tensor is None or tensor.kind != "tensor" or "dtype" in site.keywords or site.star:
        return None
    truth = tensor.op == "compare" or tensor.dtype == "bool"
    if not (truth or tensor.dtype in INTEGERS) or not _of_torch(tensor, site):
        return None
    what = "truth values" if truth else f"whole numbers ({tensor.dtype})"
    word = site.name.rpartition(".")[2]
    return tell.found(
        "mean-of-integers",
        site,
        title=f"{word} of {what}: torch computes it of floating-point numbers only",
        chain=[tell.because(tensor, f"these are {what}")],
        fixes=[Fix(f"make them float first: .float().{word}()", _edits(site), safe=True)],
    )


def _of_torch(tensor: Value, site: Site) -> bool:
    """TensorFlow and JAX do compute it: the numbers must come from torch."""
    if site.name.startswith("torch."):
        return True
    text = site.spot.file.text
    if "torch" not in text or "jax" in text or "tensorflow" in text or "keras" in text:
        return False
    return any(
        one.api.startswith("torch.") or one.op in ("batch", "linear", "conv", "argmax")
        for one in ancestors(tensor, most=60)
    )


def _edits(site: Site) -> tuple[Edit, ...]:
    file = site.spot.file
    if site.name.startswith("torch."):
        first = site.node.args[0] if site.node.args else None
        return (
            (tell.insert_before(file, first, "("), tell.insert_after(file, first, ").float()"))
            if first is not None
            else ()
        )
    return (tell.before_method(file, site.node, ".float()"),)
