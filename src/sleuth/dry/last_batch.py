"""A crash at the uneven last batch: is it its size, or one of its samples? Batches of that size from the start tell."""

from __future__ import annotations

from dataclasses import replace

from sleuth.dry import corners
from sleuth.dry.journal import Outcome
from sleuth.dry.scenario import Scenario
from sleuth.findings import Evidence, Finding

# These are told where the size is known to be the cause.
_BY_SIZE = ("batch-size-baked-in", "batchnorm-on-one-sample")
# More samples than these are no trace.
_MOST_NAMED = 64


def is_suspect(plain: Outcome) -> bool:
    """Did it crash at a batch that is smaller than those before, because no more is left?"""
    batch = plain.notes.get("batch")
    uneven = batch is not None and batch["is_last"] and batch["number"] and batch["size"] != batch["usual"]
    return bool(uneven) and plain.how == "raised" and any(map(_is_crash, plain.findings))


def is_known(plain: Outcome) -> bool:
    """Does the crash itself say that it is the size?"""
    return any(finding.diagnosis in _BY_SIZE for finding in plain.findings)


def scenario(plain: Scenario, outcome: Outcome) -> Scenario:
    """The experiment: every batch is as small as the last."""
    return replace(plain, batch=outcome.notes["batch"]["size"])


def is_by_size(plain: Outcome, again: Outcome) -> bool:
    """Did the same happen without any sample of the last batch?"""
    crashed = {(finding.diagnosis, finding.place) for finding in again.findings if _is_crash(finding)}
    same = any((one.diagnosis, one.place) in crashed for one in plain.findings if _is_crash(one))
    batch, last = again.notes.get("batch"), plain.notes["batch"]
    if again.how != "raised" or batch is None or not same:
        return False
    return batch["number"] == 0 or (bool(batch["drawn"]) and not set(batch["drawn"]) & set(last["drawn"]))


def told(finding: Finding, plain: Outcome, by_size: bool) -> Finding:
    if not _is_crash(finding):
        return finding
    last = plain.notes["batch"]
    if by_size:
        sum_ = f": {last['samples']:,} % {last['usual']} = {last['size']}" if last["samples"] else ""
        return corners.titled(finding, f"at the last batch of each epoch{sum_}")
    drawn = last["drawn"]
    if not 0 < len(drawn) <= _MOST_NAMED:
        return finding
    which = Evidence("samples of that batch", tuple(drawn))
    return replace(finding, evidence=(*finding.evidence, which))


def _is_crash(finding: Finding) -> bool:
    return finding.effect == "crash"
