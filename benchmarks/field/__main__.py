"""Scripts nobody here wrote, as they are: plain, under `sleuth run` and under `sleuth dry`, on made-up data.

`python benchmarks/field [--mirrors FOLDER] [--only NAME] [--modes plain run dry]` fetches the repositories of
`scripts.toml` once and runs each script in copies of its folder, on one core, one after the other. Rows are kept in
`results/field.json` as they come, so that `--only` renews one; `results/field.md` is the table. Beside Sleuth's extras
it needs, in the Python it is run with: flax, clu, ml_collections, orbax-export, gymnasium, tyro, datasets, evaluate,
diffusers, accelerate, lightning, jsonargparse."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dry.repositories import fetched, pinned

from field import child, likeness
from field.child import Ended
from field.data import MAKERS
from field.table import line, table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FAKES = HERE.parent / "dry" / "fakes"
RESULT = HERE.parent / "results" / "field.json"
LIMIT = 900
MODES = ("plain", "run", "dry")
# What every child gets: one thread, no hub, no card.
SURROUNDINGS = {
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "CUDA_VISIBLE_DEVICES": "",
    "JAX_PLATFORMS": "cpu",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONUNBUFFERED": "1",
    "COLUMNS": "120",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirrors", type=Path, metavar="FOLDER", help="bare repositories, owner+name/repo")
    parser.add_argument("--only", metavar="NAME", help="only scripts whose name has this in it")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES, help="only these; writes no result")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave there what the last script printed")
    parser.add_argument("--core", type=int, help="which core the programs are run on; the last if not said")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0)) if options.core is None else options.core})
    for repository in pinned(HERE / "scripts.toml"):
        for script in repository["scripts"]:
            if options.only is not None and options.only.lower() not in script["name"].lower():
                continue
            source = fetched(repository["name"], repository["commit"], options.mirrors)
            row = {
                "name": script["name"],
                "project": repository["name"],
                "commit": repository["commit"],
                "script": script["path"],
                "arguments": script.get("arguments", []),
                "right": script.get("right", []),
                **Field(source, script, options.keep).tried(options.modes),
            }
            print(line(row), flush=True)
            if tuple(options.modes) == MODES:
                keep(row)


def keep(row: dict[str, Any]) -> None:
    """Puts the row in its place among those that are there."""
    known = json.loads(RESULT.read_text(encoding="utf-8"))["scripts"] if RESULT.exists() else []
    rows = {one["name"]: one for one in [*known, row]}
    order = [script["name"] for repository in pinned(HERE / "scripts.toml") for script in repository["scripts"]]
    kept = [rows[name] for name in order if name in rows]
    result = {"machine": machine(), "scripts": kept}
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    RESULT.with_suffix(".md").write_text(table(result), encoding="utf-8")


def machine() -> dict[str, str]:
    packages = "torch keras jax flax tensorflow-cpu transformers datasets diffusers lightning gymnasium".split()
    found = {name: metadata.version(name) for name in packages}
    return {"python": platform.python_version(), "processor": platform.machine(), **found}


class Field:
    """One script and the folders it is run in: always at the same path, always made anew."""

    def __init__(self, repository: Path, script: dict[str, Any], keep: Path | None) -> None:
        self.repository, self.script, self.kept = repository, script, keep
        self.source = repository / script["path"]

    def tried(self, modes: tuple[str, ...]) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as place:
            self.place: Path = Path(place)
            self.prepared: Path = self.place / "prepared"
            shutil.copytree(self.source.parent, self.prepared)
            for name in self.script.get("data", ()):
                MAKERS[name](self.prepared)
            return {mode: getattr(self, mode)() for mode in MODES if mode in modes}

    def plain(self) -> dict[str, Any]:
        self.bare = self._ended([])
        self.left = self._left()
        self._note("plain", self.bare)
        return {"status": self.bare.status, **_cost(self.bare)}

    def run(self) -> dict[str, Any]:
        report = self.place / "run.json"
        watched = self._ended(["-m", "sleuth", "run", "--format", "json", "--output", str(report)])
        self._note("run", watched)
        told = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
        answer = {
            "status": watched.status,
            **_cost(watched),
            "steps": steps(told, watched.errors),
            "why": told.get("watched", {}).get("why"),
            "findings": [_finding(one) for one in told.get("findings", ())],
            "said": _ours(watched.errors),
        }
        if hasattr(self, "bare"):
            answer["ratio"] = round(watched.cpu / self.bare.cpu, 2)
            answer["changed"] = self._changed(watched)
        return answer

    def dry(self) -> dict[str, Any]:
        report = self.place / "dry.json"
        rehearsed = self._ended(["-m", "sleuth", "dry", "--format", "json", "--output", str(report)])
        self._note("dry", rehearsed)
        told = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
        return {
            "status": rehearsed.status,
            **_cost(rehearsed),
            "how": told.get("rehearsal", {}).get("how"),
            "findings": [_finding(one) for one in told.get("findings", ())],
            "said": _ours(rehearsed.errors),
            "folder unchanged": fingerprint(self.folder) == fingerprint(self.prepared),
        }

    @property
    def folder(self) -> Path:
        folder: Path = self.place / "work" / self.source.parent.name
        return folder

    def _ended(self, before: list[str]) -> Ended:
        """The script in a fresh copy, under what stands `before` it."""
        shutil.rmtree(self.folder.parent, ignore_errors=True)
        shutil.copytree(self.prepared, self.folder)
        home = self.place / "home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        paths = [FAKES / one for one in self.script.get("fakes", ())]
        paths += [self.repository / one for one in self.script.get("paths", ())]
        environment = {
            **os.environ,
            **SURROUNDINGS,
            "HF_HOME": str(home / "huggingface"),
            "PYTHONPATH": os.pathsep.join(map(str, [*paths, ROOT / "src"])),
            **self.script.get("environment", {}),
        }
        command = [sys.executable, *before, self.source.name, *self.script.get("arguments", ())]
        return child.run(command, self.folder, environment, LIMIT, self.script.get("until"))

    def _left(self) -> tuple[dict[str, str], list[Any]]:
        """What a run leaves behind that another must leave just so."""
        curves = self.script.get("curves")
        return (
            likeness.marks(self.folder, self.script.get("kept", [])),
            [] if curves is None else likeness.curves(self.folder / curves),
        )

    def _changed(self, watched: Ended) -> list[str]:
        """Where the watched run came to something else; empty when it did not."""
        found = likeness.difference(self.bare.output, watched.output)
        (files, curves), (files_now, curves_now) = self.left, self._left()
        found += [
            f"{name} is not the same" for name in {**files, **files_now} if files.get(name) != files_now.get(name)
        ]
        found += [f"{one} is not the same" for one in sorted({*curves} ^ {*curves_now})[:4]]
        if found:
            again = self._ended([])
            if likeness.difference(self.bare.output, again.output) or self._left() != self.left:
                found.append("(two plain runs differ, too)")
        return found

    def _note(self, mode: str, ended: Ended) -> None:
        if self.kept is not None:
            self.kept.mkdir(parents=True, exist_ok=True)
            (self.kept / f"{mode}.out").write_text(ended.output, encoding="utf-8")
            (self.kept / f"{mode}.err").write_text(ended.errors, encoding="utf-8")
            report = self.place / f"{mode}.json"
            if report.exists():
                shutil.copy(report, self.kept / f"{mode}.json")


def steps(told: dict[str, Any], errors: str) -> int | None:
    """How many steps were seen, as the report has it, or else the closing line."""
    if "watched" in told:
        return int(told["watched"]["steps"])
    said = re.search(r"in ([\d,]+) steps?\b", errors)
    return int(said[1].replace(",", "")) if said else None


def fingerprint(folder: Path) -> str:
    """Names and contents of everything in it but compiled Python."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if "__pycache__" not in path.parts and path.is_file():
            digest.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return digest.hexdigest()


def _cost(ended: Ended) -> dict[str, float]:
    return {"seconds": round(ended.seconds, 1), "cpu": round(ended.cpu, 1)}


def _ours(errors: str) -> list[str]:
    return [one.strip() for one in errors.splitlines() if one.startswith(("sleuth: ", "  it ends here"))]


def _finding(found: dict[str, Any]) -> str:
    place = found.get("place") or {}
    where = f" ({place['path']}:{place['line']})" if place.get("path") else ""
    return f"{found['diagnosis']} ({found['certainty']}): {found['title']}{where}"


if __name__ == "__main__":
    main()
