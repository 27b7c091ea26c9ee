"""What to run next: the engine that looks for the diagnosis, on the user's own file where a traceback names it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sleuth import handbook
from sleuth.triage.answer import Diagnosis, Frame, Step
from sleuth.triage.matching import Match
from sleuth.triage.reading import Reading

SCRIPT = "train.py"
NOTEBOOK = "notebook.ipynb"
# A notebook can be read as it is, but not started.
_CONVERTED = "notebook.py"
_CONVERT = f"jupyter nbconvert --to script {NOTEBOOK}"
# Where IPython keeps the cells it runs.
_CELL = re.compile(r"ipykernel_\d+[/\\]")
# What a script begins in: the file itself, or where a traceback is cut off, what it is likely to call.
_BEGINNINGS = (("<module>", ""), ("main", "train", "run"))
_MOST = 3
# By what they cost: reading the source, rehearsing it, running it.
_COMMANDS = {"source": "check", "dry": "dry", "live": "run"}
_WHAT = {
    "check": "reads the source without running it and looks for {this}",
    "dry": "rehearses the program without its GPU in seconds and looks for {this}",
    "run": "runs the program under watch and looks for {this}",
}
_BY_KIND = {
    "program-crash": ("dry", "rehearses the program in seconds and tells the story of what crashes"),
    "training-anomaly": ("run", "watches the training: where the first NaN is born, and why it does not learn"),
    "performance": ("check", "finds what is slow or holds memory by the way it is written"),
    "model-migration": ("check", "finds what changes between training and the exported model"),
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
    kind: str | None, diagnoses: Sequence[Diagnosis], match: Match | None, reading: Reading
) -> tuple[Step, ...]:
    steps = _of_signature(match, reading.frames) if match is not None else []
    if match is None or not match.signature.next or match.signature.symptom:
        steps += _of_diagnoses(diagnoses, reading.frames, {step.command for step in steps})
    if not steps and kind == "installation":
        steps += _of_environment(reading.text)
    elif not steps and kind in _BY_KIND:
        command, why = _BY_KIND[kind]
        steps.append(Step(_command(command, reading.frames), why))
    return tuple(steps[:_MOST])


def _of_environment(text: str) -> list[Step]:
    why = "shows the versions, what they were built for, and the cards they see"
    return [Step(command, why) for library, command in _ENVIRONMENT if library.search(text)][:1]


def _of_signature(match: Match, frames: tuple[Frame, ...]) -> list[Step]:
    steps = []
    for item in match.signature.next:
        if isinstance(item, str):
            this = match.signature.diagnosis or "the cause"
            steps.append(Step(_command(item, frames), _WHAT[item].format(this=this)))
        else:
            steps.append(Step(_started(item["run"], frames), item["why"]))
    return steps


def _of_diagnoses(diagnoses: Sequence[Diagnosis], frames: tuple[Frame, ...], had: set[str]) -> list[Step]:
    """Each command once, the cheapest first, for all diagnoses that it looks for."""
    wanted: dict[str, list[str]] = {}
    for diagnosis in diagnoses:
        for engine in handbook.page(diagnosis.name).engines:
            if engine in _COMMANDS:
                wanted.setdefault(_COMMANDS[engine], []).append(diagnosis.name)
    steps = []
    for command in _COMMANDS.values():
        line = _command(command, frames)
        if command in wanted and line not in had:
            steps.append(Step(line, _WHAT[command].format(this=" and ".join(wanted[command][:3]))))
    return steps


def _command(command: str, frames: tuple[Frame, ...]) -> str:
    """On the script for what runs it; on the file of the failing line for what reads it."""
    if command == "check" and frames:
        return f"sleuth check {_quoted(_file_of(frames[-1]))}"
    return _started(f"sleuth {command} {SCRIPT}", frames)


def _started(command: str, frames: tuple[Frame, ...]) -> str:
    """With the user's own script in the place of `train.py`."""
    script = _script(frames)
    if SCRIPT not in command or script != NOTEBOOK:
        return command.replace(SCRIPT, _quoted(script))
    return f"{_CONVERT} && {command.replace(SCRIPT, _CONVERTED)}"


def _script(frames: tuple[Frame, ...]) -> str:
    """The file that was started, where the traceback goes back to it: running the file of a data set shows nothing."""
    for functions in _BEGINNINGS:
        for frame in frames:
            if frame.function in functions:
                return _file_of(frame)
    return SCRIPT


def _file_of(frame: Frame) -> str:
    return frame.path if frame.path.endswith(".py") and not _CELL.search(frame.path) else NOTEBOOK


def _quoted(path: str) -> str:
    return f'"{path}"' if " " in path else path
