"""The process in which one variation is played: the user's program, started as it was started then."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from sleuth import program
from sleuth.findings import Finding, finding_to_json
from sleuth.frameworks.after_import import AfterImport
from sleuth.live.bundle import format
from sleuth.live.bundle.variations import How, Variation


class Result:
    """Where the outcome goes. Once it is known the process ends at once: no `finally`, no exit handler and no later
    line of the program gets to save, print or upload anything."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process = os.getpid()

    def conclude(self, how: How, said: str, compiled: bool = False, finding: Finding | None = None) -> NoReturn:
        # A forked DataLoader worker has nothing to say.
        if os.getpid() == self._process:
            draft = self._path.with_suffix(".part")
            told: dict[str, Any] = {"how": how, "said": said, "compiled": compiled}
            if finding is not None:
                told["finding"] = finding_to_json(finding)
            draft.write_text(json.dumps(told), encoding="utf-8")
            os.replace(draft, self._path)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
        os._exit(0)


def main(task: dict[str, Any]) -> None:
    result = Result(Path(task["result"]))
    try:
        bundle = format.read(Path(task["bundle"]), whole=False)
        subject = program.find(task["target"], task["arguments"], task["module"])
    except (format.NotABundle, program.CannotRun) as problem:
        result.conclude("unreached", str(problem))
    rehearsals: list[Any] = []

    def torch_is_here() -> None:
        from sleuth.live.bundle.rehearsal import Rehearsal

        rehearsals.append(Rehearsal(bundle, Variation(**task["variation"]), task["from_start"], result.conclude))
        rehearsals[0].install()

    imports = AfterImport()
    imports.of("torch", torch_is_here)
    imports.install()
    ending = program.run(subject)
    if not rehearsals:
        result.conclude("unreached", f"the program never imported torch{_ended_by(ending.error)}")
    rehearsals[0].program_ended(ending.error)


def _ended_by(error: BaseException | None) -> str:
    return f"; it raised {type(error).__qualname__}: {error}" if isinstance(error, Exception) else ""
