"""The options all commands share, from the command line and from `[tool.sleuth]` in pyproject.toml."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sleuth.cli.refusal import Refusal
from sleuth.report import FORMATS

RECORD = Path(".sleuth")

_NAMES, _TEXT, _SWITCH = "a list of diagnosis names", "a text in quotes", "true or false"
_SECONDS = "a number of seconds, 0 or more"
_SENTENCES = "a list of sentences, or of tables with `says`, `every`, `warmup` and `tolerance`"
_PATTERNS = 'a list of patterns such as "tests/**"'
_PINS = 'a list of versions such as "torch==2.1"'
_NAMES_OF_PATTERNS = "a table that gives a pattern a list of diagnosis names"
_COUNT = "a whole number, 1 or more"
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*?)\s*((?:===?|~=|!=|<=?|>=?)\s*\d[\w.*+!-]*)")
_SHARED = {"ignore": _NAMES, "format": _TEXT, "output": _TEXT, "expect": _SENTENCES}
_OF_COMMAND = {
    "run": {
        "keep-going": _SWITCH,
        "record": _TEXT,
        "experiments": _SECONDS,
        "tensorboard": _TEXT,
        "status": _SWITCH,
        "bundle": _SWITCH,
    },
    "check": {
        "select": _NAMES,
        "exclude": _PATTERNS,
        "per-file-ignores": _NAMES_OF_PATTERNS,
        "hints": _SWITCH,
        "baseline": _TEXT,
        "target": _PINS,
        "jobs": _COUNT,
        "cache": _SWITCH,
    },
    "dry": {"device": _TEXT, "card": _TEXT, "cards": _COUNT, "seconds": _SECONDS, "numbers": _TEXT, "corners": _SWITCH},
    "compare": {},
    "report": {"record": _TEXT},
    "view": {"record": _TEXT},
    "replay": {"record": _TEXT},
}


@dataclass(frozen=True, slots=True)
class FilePattern:
    """A pattern as in a .gitignore, and the folder it starts from."""

    folder: Path
    pattern: str


@dataclass(frozen=True, slots=True)
class Options:
    """What the user chose, the command line before the file before the default; ignored names add up."""

    format: str = "terminal"
    output: Path | None = None
    ignore: frozenset[str] = frozenset()
    keep_going: bool = False
    record: Path | None = RECORD
    experiments: float | None = None
    expect: tuple[Mapping[str, Any], ...] = ()
    tensorboard: Path | None = None
    status: bool = False
    bundle: bool = True
    select: frozenset[str] | None = None
    exclude: tuple[FilePattern, ...] = ()
    ignore_in: tuple[tuple[FilePattern, frozenset[str]], ...] = ()
    hints: bool = False
    baseline: Path | None = None
    targets: Mapping[str, str] = field(default_factory=dict)
    jobs: int | None = None
    cache: bool = True
    # The settings of `sleuth dry`, by their names in the file.
    dry: Mapping[str, Any] = field(default_factory=dict)


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments every command that gives a report takes."""
    group = parser.add_argument_group("the report")
    group.add_argument("--format", choices=FORMATS, help="how to write it (default: terminal)")
    group.add_argument("-q", "--quiet", action="store_true", help="nothing but the report, and what went wrong")
    group.add_argument("--output", metavar="FILE", help="write it to a file; - is standard output")
    group.add_argument(
        "--ignore",
        metavar="NAME",
        action="append",
        help="leave a diagnosis out; repeat it, or separate names by commas",
    )


def resolve(args: Namespace, command: str) -> Options:
    """The options of one call of a command. Raises Refusal where something in them is wrong."""
    file = _find_settings(Path.cwd())
    settings = {} if file is None else file.settings_of(command)
    ignore = _known(_split(args.ignore or ()), "--ignore") | frozenset(settings.get("ignore", ()))
    output = args.output or settings.get("output")
    return Options(
        format=args.format or settings.get("format", "terminal"),
        output=None if output in (None, "-") else Path(output),
        ignore=ignore,
        keep_going=bool(_first(getattr(args, "keep_going", None), settings.get("keep-going"), False)),
        record=_record(args, settings.get("record")),
        expect=_expected(getattr(args, "expect", None) or (), settings.get("expect", ())),
        tensorboard=_path(_first(getattr(args, "tensorboard", None), settings.get("tensorboard"))),
        status=bool(_first(getattr(args, "status", None), settings.get("status"), False)),
        experiments=_seconds(getattr(args, "experiments", None), settings.get("experiments")),
        bundle=bool(_first(getattr(args, "bundle", None), settings.get("bundle"), True)),
        select=_selected(getattr(args, "select", None), settings.get("select")),
        exclude=(*settings.get("exclude", ()), *_patterns(Path.cwd(), _split(getattr(args, "exclude", None) or ()))),
        ignore_in=tuple(settings.get("per-file-ignores", ())),
        hints=bool(_first(getattr(args, "hints", None), settings.get("hints"), False)),
        baseline=_path(_first(getattr(args, "baseline", None), settings.get("baseline"))),
        targets=_targets((*settings.get("target", ()), *_split(getattr(args, "target", None) or ()))),
        jobs=_jobs(getattr(args, "jobs", None), settings.get("jobs")),
        cache=bool(_first(getattr(args, "cache", None), settings.get("cache"), True)),
        dry={name: settings[name] for name in _OF_COMMAND["dry"] if name in settings},
    )


def _selected(on_the_line: Iterable[str] | None, in_file: Iterable[str] | None) -> frozenset[str] | None:
    if on_the_line is not None:
        return _known(_split(on_the_line), "--select")
    return None if in_file is None else frozenset(in_file)


def _patterns(folder: Path, patterns: Iterable[str]) -> list[FilePattern]:
    return [FilePattern(folder, pattern) for pattern in patterns]


def _targets(pins: Iterable[str]) -> dict[str, str]:
    """`torch==2.1` as a library and what is said of its version."""
    targets: dict[str, str] = {}
    for pin in pins:
        told = _PIN.fullmatch(pin.strip())
        if told is None:
            raise Refusal(f"--target: {pin!r} is not a library and its version, such as torch==2.1")
        targets[told[1]] = told[2]
    return targets


def _jobs(on_the_line: int | None, in_file: int | None) -> int | None:
    if on_the_line is not None and on_the_line < 1:
        raise Refusal(f"--jobs must be {_COUNT}, not {on_the_line}")
    return in_file if on_the_line is None else on_the_line


def _expected(on_the_line: Iterable[str], in_file: Iterable[Any]) -> tuple[Mapping[str, Any], ...]:
    """Expectations add up, as the ignored names do."""
    return tuple({"says": one} if isinstance(one, str) else one for one in (*in_file, *on_the_line))


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _record(args: Namespace, in_file: str | None) -> Path | None:
    if getattr(args, "no_record", False):
        return None
    return Path(_first(getattr(args, "record", None), in_file, RECORD))


def _seconds(on_the_line: float | None, in_file: float | None) -> float | None:
    if on_the_line is not None and not 0 <= on_the_line < float("inf"):
        raise Refusal(f"--experiments must be {_SECONDS}, not {on_the_line:g}")
    chosen = _first(on_the_line, in_file)
    return None if chosen is None else float(chosen)


def _first(*candidates: Any) -> Any:
    return next((candidate for candidate in candidates if candidate is not None), None)


def _split(values: Iterable[str]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def _known(names: Iterable[str], where: str) -> frozenset[str]:
    from sleuth import handbook

    wanted = frozenset(names)
    for name in sorted(wanted.difference(handbook.names())):
        raise Refusal(f"{where}: {handbook.UnknownDiagnosis(name)}")
    return wanted


@dataclass(frozen=True, slots=True)
class _Settings:
    """The `[tool.sleuth]` table of one pyproject.toml, checked."""

    path: Path
    shared: Mapping[str, Any]
    tables: Mapping[str, Mapping[str, Any]]

    def settings_of(self, command: str) -> dict[str, Any]:
        """The settings of a command's own table over the shared ones; a relative path starts at the file's folder."""
        own = dict(self.tables.get(command, {}))
        if command in ("report", "view", "replay") and "record" in self.tables.get("run", {}):
            # Both look where the run was told to write.
            own.setdefault("record", self.tables["run"]["record"])
        merged = {**self.shared, **own}
        for key in ("ignore", "expect"):
            merged[key] = [*self.shared.get(key, ()), *own.get(key, ())]
        for key in ("output", "record", "tensorboard", "baseline"):
            if key in merged and merged[key] != "-":
                merged[key] = _shown(self.path.parent / merged[key])
        merged["exclude"] = _patterns(self.path.parent, merged.get("exclude", ()))
        merged["per-file-ignores"] = [
            (FilePattern(self.path.parent, pattern), frozenset(names))
            for pattern, names in merged.get("per-file-ignores", {}).items()
        ]
        return merged


def _find_settings(folder: Path) -> _Settings | None:
    """Upwards from a folder: the first pyproject.toml that speaks of Sleuth, but never out of the repository."""
    for here in (folder, *folder.parents):
        path = here / "pyproject.toml"
        table = _table(path) if path.is_file() else None
        if table is not None:
            return _checked(path, table)
        if (here / ".git").exists():
            return None
    return None


def _table(path: Path) -> Any:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refusal(f"{_shown(path)} cannot be read: {error}") from None
    tool = content.get("tool")
    return tool.get("sleuth") if isinstance(tool, dict) else None


def _checked(path: Path, table: Any) -> _Settings:
    shown = _shown(path)
    if not isinstance(table, dict):
        raise Refusal(f"{shown}: [tool.sleuth] must be a table")
    tables = {key: value for key, value in table.items() if key in _OF_COMMAND}
    shared = {key: value for key, value in table.items() if key not in _OF_COMMAND}
    _check(shared, _SHARED, f"{shown}: [tool.sleuth]", also=_OF_COMMAND)
    for command, settings in tables.items():
        where = f"{shown}: [tool.sleuth.{command}]"
        if not isinstance(settings, dict):
            raise Refusal(f"{where} must be a table")
        _check(settings, {**_SHARED, **_OF_COMMAND[command]}, where)
    return _Settings(path, shared, tables)


def _check(settings: Mapping[str, Any], allowed: Mapping[str, str], where: str, also: Iterable[str] = ()) -> None:
    for key, value in settings.items():
        if key not in allowed:
            raise Refusal(f"{where} has no setting {key!r}; {_suggestion(key, [*allowed, *also])}")
        if not _fits(value, allowed[key]):
            raise Refusal(f"{where} {key} must be {allowed[key]}, not {value!r}")
    if settings.get("format", FORMATS[0]) not in FORMATS:
        raise Refusal(f"{where} format must be one of {', '.join(FORMATS)}, not {settings['format']!r}")
    for key in ("ignore", "select"):
        _known(settings.get(key, ()), f"{where} {key}")
    for pattern, names in settings.get("per-file-ignores", {}).items():
        _known(names, f"{where} per-file-ignores {pattern!r}")


def _fits(value: Any, wanted: str) -> bool:
    if wanted in (_NAMES, _PATTERNS, _PINS):
        return isinstance(value, list) and all(isinstance(name, str) for name in value)
    if wanted is _NAMES_OF_PATTERNS:
        return isinstance(value, dict) and all(_fits(names, _NAMES) for names in value.values())
    if wanted is _COUNT:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if wanted is _SENTENCES:
        return isinstance(value, list) and all(_is_expectation(one) for one in value)
    if wanted is _SECONDS:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
    return isinstance(value, bool if wanted is _SWITCH else str)


def _is_expectation(value: Any) -> bool:
    kinds = {"says": str, "every": int, "warmup": int, "tolerance": int | float}
    return isinstance(value, str) or (
        isinstance(value, dict)
        and "says" in value
        and all(key in kinds and isinstance(item, kinds[key]) for key, item in value.items())
    )


def _suggestion(key: str, allowed: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(key, allowed, n=1)
    return f"did you mean {close[0]}?" if close else f"it may have {', '.join(allowed)}"


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
