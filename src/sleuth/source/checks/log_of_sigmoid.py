"""log(sigmoid(x)) or log(1 - sigmoid(x)), which is log 0 from x = 17 on."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import exponentials, fused, limits, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

OPERATIONS = ("log", "log2", "log10")
REFINES = ("hand-written-binary-cross-entropy",)
_FUSED = {
    "torch": lambda written: (
        f"{'torch.nn.functional' if written in ('torch', 'torch.special') else written}.logsigmoid"
    ),
    "tensorflow": lambda written: f"{written.partition('.')[0]}.math.log_sigmoid",
    "jax": lambda written: f"{written}.log_sigmoid",
    "keras.ops": lambda written: f"{written}.log_sigmoid",
}


def operation(site: Site) -> Finding | None:
    reached = limits.zero_in_log(site)
    if reached is None or reached.lost is not None or not _is_sigmoid(reached.source):
        return None
    of = "1 - sigmoid" if reached.complement else "sigmoid"
    where = "from x = 17 on" if reached.complement else "below about x = -104"
    return tell.found(
        "log-of-sigmoid",
        site,
        title=f"log of {'1 minus ' if reached.complement else ''}a sigmoid, which can be exactly 0",
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(reached.source, f"{of}(x) is exactly 0 {where} in float32"),
            tell.because(site.node, "the log is -inf there, and the gradient NaN or inf", site.spot.file),
        ],
        fixes=[_fix(site, reached.source, reached.complement)],
    )


def _is_sigmoid(source: Value) -> bool:
    return source.op == "sigmoid" or exponentials.sigmoid_by_hand(source) is not None


def _fix(site: Site, sigmoid: Value, complement: bool) -> Fix:
    general = Fix("keep the scores: logsigmoid(x) and logsigmoid(-x), or binary_cross_entropy_with_logits")
    file = site.spot.file
    call = fused.directly_inside(site, sigmoid)
    known = fused.prefix(file, call, sigmoid.api)
    argument = fused.only_argument(file, call)
    if complement or known is None or argument is None or site.op != "log" or known[0] not in _FUSED:
        return general
    return Fix("use the fused log-sigmoid", fused.edit(site, f"{_FUSED[known[0]](known[1])}({argument})"), safe=True)
