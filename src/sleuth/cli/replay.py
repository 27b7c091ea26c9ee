"""`sleuth replay`: re-create the step that a crash bundle holds, and say what is to blame."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable
    from pathlib import Path

    from sleuth.live.bundle.format import Bundle
    from sleuth.live.bundle.variations import Command, Outcome, Variation
    from sleuth.options import Options

SUMMARY = "re-create the step that failed: is it the data, the weights, the operation, compiled code, or chance?"
EXAMPLE = "sleuth replay"

_EXAMPLES = """\
examples:
  sleuth replay                                           the newest bundle under .sleuth/runs
  sleuth replay .sleuth/runs/NAME/crash.sleuth            that bundle
  sleuth replay crash.sleuth --program 'train.py --lr 3'  a bundle from elsewhere, with the program it belongs to

A bundle holds numbers only; opening it executes nothing. The step itself is your program's, so that is
run again, up to its first training step, once for each thing that is varied.

exit status: 1 the step failed again, 0 it did not, 2 it could not be re-created
"""
_SECONDS = 600.0


def add_arguments(parser: ArgumentParser) -> None:
    from sleuth import options

    parser.epilog = _EXAMPLES
    parser.add_argument("bundle", nargs="?", metavar="BUNDLE", help="a bundle, or a run's folder (default: the newest)")
    parser.add_argument(
        "--program", metavar="COMMAND", help="the script, or -m and a module, with its arguments, in quotes"
    )
    parser.add_argument(
        "--from-start",
        action="store_true",
        help="let the program train up to the recorded step first, for one that makes its batches itself",
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=_SECONDS,
        metavar="SECONDS",
        help=f"how long each variation may take (default: {_SECONDS:g})",
    )
    parser.add_argument("--verbose", action="store_true", help="show what the program prints, on stderr")
    parser.add_argument("--record", metavar="DIR", help="where the runs were noted (default: .sleuth)")
    options.add_arguments(parser)


def execute(args: Namespace) -> int:
    from sleuth import options
    from sleuth.cli import streams
    from sleuth.cli.outlet import Outlet
    from sleuth.live.bundle import format, verdict
    from sleuth.live.bundle.variations import Stage

    chosen = options.resolve(args, "replay")
    outlet = Outlet(chosen)
    if not args.time_limit > 0:
        raise Refusal("--time-limit must be a number of seconds above 0")
    try:
        bundle = format.read(_file(args.bundle, chosen))
    except format.NotABundle as refusal:
        raise Refusal(str(refusal)) from None
    command = _command(bundle, args.program)
    streams.note(f"your program is run again for this, up to one training step: {command}  (in {command.folder})")
    stage = Stage(
        bundle, command, seconds=args.time_limit, from_start=args.from_start, hear=_heard if args.verbose else None
    )
    try:
        decided = verdict.decide(bundle, _told(stage.play))
    except verdict.CannotReplay as problem:
        raise Refusal(f"the step could not be re-created: {problem}{_hint(bundle, command)}") from None
    report = verdict.report(bundle, decided, command.folder, command.target)
    outlet.publish(report)
    streams.note(f"{decided.word}: {decided.because}")
    return report.exit


def _file(named: str | None, chosen: Options) -> Path:
    from pathlib import Path

    if named is not None and not Path(named).is_dir():
        return Path(named)
    where = Path(named) if named is not None else (chosen.record or Path(".sleuth")) / "runs"
    found = list(where.glob("crash*.sleuth" if named is not None else "*/crash*.sleuth"))
    if not found:
        raise Refusal(f"no bundle is kept in {where}; `sleuth run` keeps one when a step fails")
    return max(found, key=lambda file: file.stat().st_mtime_ns)


def _command(bundle: Bundle, named: str | None) -> Command:
    """The program to run: the one the user names; else the recorded one, if the record of the run that wrote the bundle
    lies beside it. A bundle from elsewhere must not choose what is executed here."""
    import shlex
    from pathlib import Path

    from sleuth.live.bundle.variations import Command

    told = bundle.content["program"]
    if named is not None:
        words = shlex.split(named)
        module = words[:1] == ["-m"]
        words = words[1:] if module else words
        if not words:
            raise Refusal("--program names no program; give a script, or -m and a module, in quotes")
        return Command(words[0], tuple(words[1:]), module, Path.cwd())
    if not _written_here(bundle):
        recorded = shlex.join([*(["-m"] if told["module"] else []), told["name"], *told["arguments"]])
        raise Refusal(
            f"{bundle.path} does not lie beside the record of its run, so say which program it belongs to; "
            f"it was recorded with --program {shlex.quote(recorded)}"
        )
    folder = (bundle.path.absolute().parent / told["folder"]).resolve()
    if not folder.is_dir():
        raise Refusal(f"{folder}, where the program was started, is gone; change to its folder and use --program")
    return Command(told["name"], tuple(told["arguments"]), told["module"], folder)


def _written_here(bundle: Bundle) -> bool:
    from sleuth.live import record

    folder = bundle.path.absolute().parent
    rows = (row for rank in record.ranks(folder) for row in record.rows(folder, rank))
    return any(row["row"] == "bundle" and row.get("id") == bundle.content["id"] for row in rows)


def _told(play: Callable[[Variation], Outcome]) -> Callable[[Variation], Outcome]:
    from sleuth.cli import streams

    def told(variation: Variation) -> Outcome:
        outcome = play(variation)
        streams.note(f"{variation.name}: {outcome.said}  ({outcome.seconds:.1f} s)")
        return outcome

    return told


def _heard(line: str) -> None:
    import sys

    from sleuth.cli import streams

    shown = f"  | {line}"
    streams.show(f"\x1b[2m{shown}\x1b[0m\n" if streams.wants_colour(sys.stderr) else f"{shown}\n", sys.stderr)


def _hint(bundle: Bundle, command: Command) -> str:
    from sleuth.live.bundle import verdict

    changed = verdict.changed_sources(bundle, command.folder)
    return f" ({', '.join(changed[:3])} changed since)" if changed else ""
