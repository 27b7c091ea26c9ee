"""The control: the program once more with nothing pretended, to know whether it crashes by itself."""

from __future__ import annotations

from dataclasses import replace

from sleuth.dry import crashes
from sleuth.dry.crashes.hard_coded_cuda import is_about_a_missing_card
from sleuth.dry.journal import Outcome
from sleuth.dry.scenario import Scenario
from sleuth.findings import Certainty, Evidence, Finding

# A program with nothing pretended around it gets to the same line in about the same time, and this much later.
_LATEST = 5.0


def is_needed(plain: Outcome) -> bool:
    """Has it crashed in a way that nothing more is known of, and that what is pretended might have caused?"""
    return "unproved" in plain.end


def scenario(plain: Scenario, outcome: Outcome) -> Scenario | None:
    """The re-run; None where real numbers are too expensive."""
    if plain.numbers == "fake":
        return None
    return replace(plain, bare=True, seconds=min(outcome.seconds * 2 + _LATEST, plain.seconds))


def judge(plain: Outcome, control: Outcome | None) -> None:
    """What the crash is worth after that."""
    suspect = plain.end["unproved"]
    raised = control.end.get("raised") if control is not None else None
    if raised is not None and (raised["type"], raised["place"]) == (suspect["type"], suspect["place"]):
        # The control is kept from other processes and the network, too.
        if not suspect["users"] and any(act in ("process", "network") for act, _ in plain.kept_off):
            _withdraw(plain)
        return
    if control is None or not _came_as_far(control):
        _temper(plain, "likely", "the program could not be tried as far as this without what is pretended")
    elif suspect["users"]:
        _temper(plain, "hint", "it does not happen without what is pretended")
    else:
        _withdraw(plain)


def _came_as_far(control: Outcome) -> bool:
    return control.how == "ended" or (control.how == "raised" and not is_about_a_missing_card(control.end["detail"]))


def _temper(plain: Outcome, certainty: Certainty, why: str) -> None:
    plain.findings = [_tempered(one, certainty, why) if _is_of_it(one) else one for one in plain.findings]


def _tempered(finding: Finding, certainty: Certainty, why: str) -> Finding:
    severity = "note" if certainty == "hint" else finding.severity
    evidence = (*finding.evidence, Evidence("less than certain", why))
    return replace(finding, certainty=certainty, severity=severity, evidence=evidence)


def _is_of_it(finding: Finding) -> bool:
    return finding.diagnosis == crashes.UNKNOWN and finding.certainty != "hint"


def _withdraw(plain: Outcome) -> None:
    plain.findings = [one for one in plain.findings if one.diagnosis != crashes.UNKNOWN]
    plain.how = "cannot go on"
    why = f"it could not be rehearsed: this is raised only among what is pretended; {plain.end['detail']}"
    plain.notes["ended"] = {**plain.end, "how": plain.how, "detail": why, "place": plain.end["unproved"]["place"]}
