"""Every batch holds one sample, as a last batch or a single question to the model may."""

from __future__ import annotations

from dataclasses import replace

from sleuth.dry.corners import as_hint, titled
from sleuth.dry.journal import Outcome
from sleuth.dry.scenario import Scenario
from sleuth.findings import Finding

TITLE = "with a batch of one sample"
# Statistics over one sample: nobody trains so on purpose, and a last batch of one is met by the plain rehearsal, as is
# one of another size than the program counts on.
_EXPECTED = {"batchnorm-on-one-sample", "std-of-one-element", "does-not-fit-the-card", "batch-size-baked-in"}


def scenario(plain: Scenario, outcome: Outcome) -> Scenario | None:
    if not outcome.acts.get("batch") or plain.batch == 1:
        return None
    return replace(plain, batch=1)


def told(finding: Finding) -> Finding | None:
    expected = finding.diagnosis in _EXPECTED or finding.effect != "crash"
    return None if expected else as_hint(titled(finding, TITLE))
