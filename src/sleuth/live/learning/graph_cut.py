"""Where the way from a parameter to the loss is cut, seen in the calls of one round."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from torch import Tensor

from sleuth.live.learning.inspection import TO_PYTHON, Call, Inspection, ancestors

_AS_ARRAYS = ("numpy", "tolist")


def cut_off(
    inspection: Inspection, root: Any, leaves: list[Tensor], optimised: set[int]
) -> tuple[list[Tensor], Call | None]:
    """The parameters that ran in this round and that the differentiated number gives no gradient to, and the call that
    cuts them off. `optimised` are the ids of those that an optimiser holds."""
    reached = {id(leaf) for leaf in leaves}
    call = inspection.call_of(root)
    behind = list(ancestors(call))
    by_data = {id(p): p for c in behind for p in c.parameters if p.requires_grad}
    missing = [p for key, p in by_data.items() if key not in reached]
    if missing:
        lost = {id(p) for p in missing}
        cuts = [c for c in behind if c.had_grad and not c.has_grad and _rests_on(c, lost)]
        return missing, min(cuts, key=lambda c: c.number) if cuts else None
    if reached:
        # A number taken out of one of them may be meant for a log; unless not one of them gets a gradient.
        ways_out = _AS_ARRAYS if reached & optimised else TO_PYTHON
        return _left_torch(inspection, reached, ways_out)
    # The number has no past in torch: it went through Python or NumPy on its way.
    leaving = [c for c in inspection.calls if c.name in TO_PYTHON and c.had_grad]
    if not leaving:
        return [], None
    last = leaving[-1]
    used = {id(p): p for c in ancestors(last) for p in c.parameters if p.requires_grad}
    return list(used.values()), last


def _left_torch(
    inspection: Inspection, reached: set[int], ways_out: Collection[str]
) -> tuple[list[Tensor], Call | None]:
    """Parameters whose values went to NumPy or Python, from where no gradient comes back."""
    for call in inspection.calls:
        if call.name in ways_out:
            behind = list(ancestors(call))
            lost = {id(p): p for c in behind for p in c.parameters if p.requires_grad and id(p) not in reached}
            cuts = [c for c in behind if c.had_grad and not c.has_grad]
            if lost and cuts:
                return list(lost.values()), min(cuts, key=lambda c: c.number)
    return [], None


def _rests_on(call: Call, parameters: set[int]) -> bool:
    return any(id(p) in parameters for c in ancestors(call) for p in c.parameters)
