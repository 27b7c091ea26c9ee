"""How the program of a text was started, as far as it tells: as a script, a module, by a launcher, or in a notebook."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from sleuth.known_errors import Frame, Reading

SCRIPT = "train.py"
NOTEBOOK = "notebook.ipynb"
# A notebook can be read as it is, but not rehearsed.
_CONVERTED = "notebook.py"
_CONVERT = f"jupyter nbconvert --to script {NOTEBOOK}"
WATCH = "with sleuth.watch():"
# Where IPython keeps the cells it runs, and how it calls them.
_CELL = re.compile(r"ipykernel_\d+[/\\]|^(?:Cell )?In ?\[|^<ipython-input")
# What a script begins in: the file itself, or where a traceback is cut off, what it is likely to call.
_BEGINNINGS = (("<module>", ""), ("main", "train", "run"))
_REST = r"(?P<rest>(?:[ \t]+(?!\d?>|&|\||2>&1)[^\s`;|&<>()'\"]+)*)"
_MODULE = r"[A-Za-z_]\w*(?:\.\w+)*"
_LAUNCHED = re.compile(
    r"(?<![\w./-])(?P<launcher>torchrun|accelerate launch|deepspeed|"
    r"python[\d.]*(?: -u)? -m torch\.distributed\.(?:run|launch))"
    rf"(?P<options>(?:[ \t]+-{{1,2}}(?!m\b)[\w-]+(?:[= ][\w.:]+(?!\.py|\w))?)*)[ \t]+"
    rf"(?P<target>-m {_MODULE}|[\w./-]+\.py){_REST}"
)
_AS_MODULE = re.compile(rf"(?<![\w./-])python[\d.]*(?: -[uBOX]\w*)* (?P<target>-m {_MODULE}){_REST}")
_AS_SCRIPT = re.compile(rf"(?<![\w./-])python[\d.]*(?: -[uBOX]\w*)* (?P<target>[\w./-]+\.py)\b{_REST}")
# Modules that are tools, and start no training of their own.
_TOOLS = re.compile(
    r"-m (?:pip|venv|pytest|sleuth|pdb|cProfile|http|json|ipykernel\w*|torch\.|site|build|conda|jupyter)\b"
)
_RANKS = re.compile(r"--nproc[-_]per[-_]node[= ](\d+)|--num[-_]processes[= ](\d+)|--num[-_]gpus[= ](\d+)")
_RELATIVE_IMPORT = "attempted relative import with no known parent package"
# How a template starts several ranks, where the text does not tell how they were started.
_LAUNCHER = "torchrun --nproc-per-node 2 "
_LONGEST_REST = 120
# For a package whose name the text does not tell.
_PACKAGE = "package"


@dataclass(frozen=True, slots=True)
class Start:
    """`target` is what follows `python`: `train.py`, or `-m package.module`, with the arguments that are known."""

    target: str = SCRIPT
    launcher: str = ""
    in_notebook: bool = False

    def command(self, template: str) -> str:
        """A command with the user's own program in the place of `train.py`."""
        if SCRIPT not in template:
            return template
        if self.in_notebook:
            return (
                WATCH if template.startswith("sleuth run ") else f"{_CONVERT} && {template.replace(SCRIPT, _CONVERTED)}"
            )
        ranks = next((number for found in _RANKS.finditer(self.launcher) for number in found.groups() if number), None)
        if self.launcher and template.startswith("sleuth run "):
            return template.replace(_LAUNCHER, "").replace(SCRIPT, f"{self.launcher} {self.target}")
        if ranks and template == f"sleuth dry {SCRIPT}":
            return f"sleuth dry --ranks {ranks} {self.target}"
        return template.replace(SCRIPT, self.target)


def start_of(reading: Reading) -> Start:
    if any(_CELL.search(frame.path) for frame in reading.frames):
        return Start(in_notebook=True)
    launched = _LAUNCHED.search(reading.text)
    if launched:
        words = " ".join((launched["launcher"] + launched["options"]).split())
        launcher = words if not words.startswith("python") else re.sub(r"^python\S*(?: -u)? ", "", words)
        return Start(_with_arguments(launched), launcher)
    for found in _AS_MODULE.finditer(reading.text):
        if not _TOOLS.match(found["target"]):
            return Start(_with_arguments(found))
    script = _script(reading.frames)
    typed = _AS_SCRIPT.search(reading.text)
    if _RELATIVE_IMPORT in reading.text and (script or typed):
        name = _module(script or (typed["target"] if typed else SCRIPT), reading.frames)
        return Start(f"-m {name}" if "." in name else f"-m {_PACKAGE}.{name}")
    if script is not None:
        return Start(f"-m {_module(script, reading.frames)}" if reading.runs_a_module else quoted(script))
    return Start(_with_arguments(typed)) if typed else Start()


def file_of(frame: Frame) -> str:
    return frame.path if frame.path.endswith(".py") and not _CELL.search(frame.path) else NOTEBOOK


def quoted(path: str) -> str:
    return f'"{path}"' if " " in path else path


def _with_arguments(found: re.Match[str]) -> str:
    """With what follows it, where the command stands by itself; in a sentence, other words may follow."""
    rest = " ".join(found["rest"].split())
    before = found.string[: found.start()].rpartition("\n")[2].strip(" \t$>%!#")
    by_itself = not before or before.endswith(("`", "&&"))
    return f"{found['target']} {rest}".strip() if by_itself and len(rest) <= _LONGEST_REST else found["target"]


def _script(frames: tuple[Frame, ...]) -> str | None:
    """The file that was started, where the traceback goes back to it: running the file of a data set shows nothing."""
    for functions in _BEGINNINGS:
        for frame in frames:
            if frame.function in functions:
                return file_of(frame)
    return None


def _module(script: str, frames: tuple[Frame, ...]) -> str:
    """The name under which `python -m` finds the script: from the folder that its other files share, or one up."""
    path = os.path.splitext(script.replace("\\", "/"))[0]
    folder = path.rpartition("/")[0]
    root = ""
    if path.startswith("/") or ":" in path:
        others = [frame.path.replace("\\", "/").rpartition("/")[0] for frame in frames if frame.path[0] == path[0]]
        shared = os.path.commonpath([folder, *others])
        root = shared if shared != folder else folder.rpartition("/")[0]
    return path[len(root) :].removeprefix("./").strip("/").removesuffix("/__main__").replace("/", ".")
