"""What to run next: the engine that looks for the diagnosis, on the user's own file where a traceback names it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sleuth import handbook
from sleuth.known_errors import Frame, Match, Reading
from sleuth.triage.answer import Diagnosis, Step
from sleuth.triage.situations import Situation
from sleuth.triage.starting import SCRIPT, WATCH, Start, file_of, quoted, start_of

_MOST = 3
# By what they cost: reading the source, rehearsing it, running it.
_COMMANDS = {"source": "check", "dry": "dry", "live": "run"}
_WHAT = {
    "check": "reads the source without running it and looks for {this}",
    "dry": "rehearses the program without its GPU in seconds and looks for {this}",
    "run": "runs the program under watch and looks for {this}",
}
# A run has a word on these only once they crash.
_ONLY_AS_A_CRASH = {
    *("does-not-fit-the-card", "modules-in-plain-list", "parameter-moved-after-wrapping", "parameters-unused"),
    "side-effect-in-jit",
}
# A rehearsal of a few batches may not meet it.
_BY_A_SAMPLE = {"batchnorm-on-one-sample", "label-out-of-range", "logits-into-bce-loss"}
_BY_KIND = {
    "program-crash": (("dry", "rehearses the program in seconds and tells the story of what crashes"),),
    "training-anomaly": (
        ("run", "watches the training: where the first NaN is born, and why it does not learn"),
        ("check", "reads the source in a second: what is wrong by the way it is written"),
    ),
    "performance": (("check", "finds what is slow or holds memory by the way it is written"),),
    "model-migration": (("check", "finds what changes between training and the exported model"),),
}
# What each library says of itself: its version, what it was built for, the cards it sees.
_ENVIRONMENT = (
    (re.compile(r"torch", re.IGNORECASE), "python -m torch.utils.collect_env"),
    (
        re.compile(r"tensorflow|\btf\b|keras", re.IGNORECASE),
        'python -c "import tensorflow as tf; print(tf.__version__, tf.config.list_physical_devices())"',
    ),
    (re.compile(r"\bjax", re.IGNORECASE), 'python -c "import jax; jax.print_environment_info()"'),
)


def next_steps(
    kind: str | None,
    diagnoses: Sequence[Diagnosis],
    match: Match | None,
    told: Situation | None,
    reading: Reading,
) -> tuple[Step, ...]:
    """By what is surest: the message, the situation that is told, the diagnoses, and at last the kind."""
    wording = _Wording(start_of(reading), reading.frames)
    by_message = [] if match is None else _listed(match.signature.next, match.signature.diagnosis, wording)
    by_situation = [] if told is None else _listed(told.next, told.page, wording)
    # Several things that are told together say more than one complaint, and an error says more than both.
    first, second = by_message, by_situation
    if match is not None and match.signature.symptom:
        first, second = second, first
    steps = [*first, *_new(second, first)]
    if match is None or not match.signature.next or match.signature.symptom:
        steps += _new(_of_diagnoses(diagnoses, wording), steps)
    if not steps and kind == "installation":
        steps += _of_environment(reading.text)
    elif not steps and kind in _BY_KIND:
        steps += [wording.step(*one) for one in _BY_KIND[kind]]
    return tuple(steps[:_MOST])


def _new(steps: list[Step], had: list[Step]) -> list[Step]:
    """Those whose command is not there yet: one `sleuth run` is enough, whatever it is to look for."""
    commands = {_verb(step) for step in had}
    return [step for step in steps if _verb(step) not in commands]


def _verb(step: Step) -> str:
    return " ".join(step.command.split()[:2])


def _of_environment(text: str) -> list[Step]:
    why = "shows the versions, what they were built for, and the cards they see"
    return [Step(command, why) for library, command in _ENVIRONMENT if library.search(text)][:1]


def _listed(items: Sequence[str | dict[str, str]], diagnosis: str | None, wording: _Wording) -> list[Step]:
    """What a signature or a situation names: engines, and commands with the reason for them."""
    this = diagnosis or "the cause"
    return [
        wording.step(item, _WHAT[item].format(this=this))
        if isinstance(item, str)
        else wording.of(item["run"], item["why"])
        for item in items
    ]


def _of_diagnoses(diagnoses: Sequence[Diagnosis], wording: _Wording) -> list[Step]:
    """Each command once, the cheapest first, for all diagnoses that it looks for."""
    wanted: dict[str, list[str]] = {}
    for diagnosis in diagnoses:
        for engine in handbook.page(diagnosis.name).engines:
            if engine in _COMMANDS and (engine != "live" or _is_worth_a_run(diagnosis.name)):
                wanted.setdefault(_COMMANDS[engine], []).append(diagnosis.name)
    return [
        wording.step(command, _WHAT[command].format(this=" and ".join(wanted[command][:3])))
        for command in _COMMANDS.values()
        if command in wanted
    ]


def _is_worth_a_run(name: str) -> bool:
    """A crash comes back by itself: reading or rehearsing shows it sooner, but for what hangs on a sample."""
    page = handbook.page(name)
    if name in _ONLY_AS_A_CRASH:
        return False
    return page.effect != "crash" or name in _BY_A_SAMPLE or not {"source", "dry"} & set(page.engines)


@dataclass(frozen=True, slots=True)
class _Wording:
    """Commands in terms of the user's own program."""

    start: Start
    frames: tuple[Frame, ...]

    def step(self, verb: str, why: str) -> Step:
        """On the script for what runs it; on the file of the failing line for what reads it."""
        if verb == "check" and self.frames:
            return Step(f"sleuth check {quoted(file_of(self.frames[-1]))}", why)
        return self.of(f"sleuth {verb} {SCRIPT}", why)

    def of(self, template: str, why: str) -> Step:
        command = self.start.command(template)
        return Step(command, f"around the training, in its cell: {why}" if command == WATCH else why)
