"""One story from those of several ranks: what all found is said once, and who died is told before who noticed."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.ranks.muster import Fate

_RANKS = "ranks"
# A launcher asks the ranks that are left to end, once one of them has failed.
_ASKED_TO_END = {-signal.SIGTERM, -signal.SIGINT}
STOPPED = "stopped by Sleuth"
# How torch.distributed tells that its partner is gone.
_LOST = {f"raised {name}" for name in ("RuntimeError", "DistBackendError", "DistNetworkError")}


def signed(finding: Finding, rank: int) -> Finding:
    """The finding as that of one rank, unless it speaks of several."""
    return finding if _ranks_of(finding) else replace(finding, rank=rank)


def _ranks_of(finding: Finding) -> bool:
    return any(item.name == _RANKS for item in finding.evidence)


def together(by_rank: Mapping[int, Sequence[Finding]], ranks: int) -> tuple[Finding, ...]:
    """The findings of all ranks. The same diagnosis at the same place is one finding that says on which ranks."""
    if ranks < 2:
        return tuple(finding for found in by_rank.values() for finding in found)
    groups: dict[object, list[tuple[int, Finding]]] = {}
    for rank, found in sorted(by_rank.items()):
        for finding in found:
            groups.setdefault((finding.diagnosis, finding.place), []).append((rank, finding))
    return tuple(_one(group) for group in groups.values())


def joined(first: Sequence[Finding], more: Iterable[Finding]) -> tuple[Finding, ...]:
    """What one process found, and what others found besides: the same diagnosis at the same place is said once."""
    known = {(finding.diagnosis, finding.place) for finding in first}
    besides = {(finding.diagnosis, finding.place): finding for finding in more}
    return (*first, *(finding for key, finding in besides.items() if key not in known))


def _one(group: list[tuple[int, Finding]]) -> Finding:
    rank, first = group[0]
    on = sorted({rank for rank, _ in group})
    if _ranks_of(first):
        return first
    if len(on) == 1:
        return replace(first, rank=rank)
    return replace(first, rank=None, evidence=(Evidence(_RANKS, tuple(on)), *first.evidence))


def deaths(fates: Iterable[Fate], exits: Mapping[int, int] | None = None) -> Finding | None:
    """The rank that died and took the others with it. `exits` are exit codes by process, the first to end first, where
    they are known; below 0 they are signals."""
    everyone = list(fates)
    codes = exits or {}
    order = list(codes)
    if len(everyone) < 2 or any(fate.how == STOPPED for fate in everyone):
        return None
    gone = [fate for fate in everyone if not fate.ended and not fate.alive]
    gone = [fate for fate in gone if codes.get(fate.process) not in (0, *_ASKED_TO_END)]
    if all(fate.process not in codes for fate in gone) and all(fate.how == "ended" for fate in everyone if fate.ended):
        # It may have left by os._exit: nobody has missed it.
        gone = []
    if gone:
        first = min(gone, key=lambda fate: order.index(fate.process) if fate.process in codes else len(order))
        return _told(first, _how(codes.get(first.process)), everyone, codes.get(first.process, -signal.SIGKILL))
    lost = [fate for fate in everyone if fate.how in _LOST]
    left = [fate for fate in everyone if fate.ended and fate.how not in _LOST]
    first = min(left, key=lambda fate: fate.time, default=everyone[0])
    if lost and left and all(first.time < fate.time for fate in lost):
        return _told(first, "ended" if first.how == "ended" else first.how, everyone, 0)
    return None


def _told(dead: Fate, how: str, everyone: list[Fate], code: int) -> Finding:
    others = [fate for fate in everyone if fate is not dead]
    after = [Link(f"rank {fate.rank} {_then(fate)}") for fate in others]
    fixes = [Fix(f"look for what rank {dead.rank} wrote last; the errors of the others only follow from it")]
    if code == -signal.SIGKILL:
        fixes.append(Fix("was memory short? The system kills without a word: dmesg | grep -i 'killed process'"))
    elif code < 0:
        fixes.append(Fix("a crash in native code leaves its Python line with: python -X faulthandler"))
    elif how == "ended":
        fixes.append(Fix("give every rank the same number of batches: DistributedSampler, or drop_last=True"))
    return handbook.finding(
        "rank-ended-early",
        title=f"rank {dead.rank} {how}, last seen at step {dead.step:,}",
        place=None,
        certainty="likely" if how == "ended" else "certain",
        step=dead.step,
        rank=dead.rank,
        evidence=(
            Evidence("process", dead.process),
            Evidence("end", how),
            Evidence(_RANKS, len(others) + 1),
        ),
        chain=(Link(f"rank {dead.rank} {how}; the others wait for it in their next collective call"), *after),
        fixes=fixes,
    )


def _how(code: int | None) -> str:
    if code is None:
        return "ended without a word"
    if code < 0:
        try:
            return f"was ended by signal {-code} ({signal.Signals(-code).name})"
        except ValueError:
            return f"was ended by signal {-code}"
    return f"left with exit status {code}"


def _then(fate: Fate) -> str:
    if fate.ended and fate.how.startswith("raised"):
        return f"then {fate.how}: a consequence, not the cause"
    if fate.ended:
        return f"{fate.how} after {fate.step:,} steps"
    return "was still running" if fate.alive else "was then ended as well"
