"""`sleuth check`: read the source and find the bug before anything runs."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from sleuth.cli.check_told import Telling
    from sleuth.options import FilePattern, Options
    from sleuth.source.baseline import Baseline
    from sleuth.source.checkup import Outcome, Plan
    from sleuth.source.ignoring import Patterns

SUMMARY = "read the source without running it: find the bug, show the line, and mend it where that is mechanical"
EXAMPLE = "sleuth check src"

_EXAMPLES = """\
examples:
  sleuth check                               all Python files and notebooks below this folder
  sleuth check train.py src notebooks        these files and folders
  sleuth check --format concise src          one line a finding
  sleuth check --diff src                    show what --fix would change, and change nothing
  sleuth check --fix src                     make the safe fixes; --unsafe-fixes makes all of them
  sleuth check --select log-of-softmax src   look for this only; --ignore leaves something out
  sleuth check --target torch==2.1 src       as if that version were pinned
  sleuth check --baseline known.json --write-baseline    accept what there is; from now on
  sleuth check --baseline known.json                     only new findings are reported
  sleuth check --watch src                   again whenever a file changes
  sleuth check --stdin-filename a.py - < a.py            what an editor holds unsaved

A comment `# sleuth: ignore[name]` on its line silences a finding. Settings: [tool.sleuth.check] in pyproject.toml.

exit status: 0 nothing found; 1 errors or warnings found (with --fix: left); 2 Sleuth could not do its job,
or a file that you named is not valid Python. One that lies in a folder is told of and passed by.
"""


def add_arguments(parser: ArgumentParser) -> None:
    from sleuth import options

    parser.epilog = _EXAMPLES
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: .); - is standard input")
    parser.add_argument("--stdin-filename", metavar="FILE", help="what the text on standard input is called")
    choice = parser.add_argument_group("what to look for")
    choice.add_argument("--select", metavar="NAME", action="append", help="look for these diagnoses only")
    choice.add_argument("--hints", action="store_true", default=None, help="show hints, too: advice, not faults")
    choice.add_argument(
        "--target", metavar="NAME==VERSION", action="append", help="a version to judge by, before what the project pins"
    )
    choice.add_argument("--exclude", metavar="PATTERN", action="append", help="leave files out, as .gitignore does")
    choice.add_argument("--force-exclude", action="store_true", help="leave them out even where they are named")
    fixing = parser.add_argument_group("fixing")
    fixing.add_argument("--fix", action="store_true", help="make the fixes that are safe")
    fixing.add_argument("--unsafe-fixes", action="store_true", help="make the others, too: read what they did")
    fixing.add_argument("--diff", action="store_true", help="show what would be changed, and change nothing")
    known = parser.add_argument_group("old code")
    known.add_argument("--baseline", metavar="FILE", help="findings that are known and not reported")
    known.add_argument("--write-baseline", action="store_true", help="write what is found now to the baseline")
    options.add_arguments(parser)
    work = parser.add_argument_group("the work")
    work.add_argument("--statistics", action="store_true", help="count the findings by diagnosis")
    work.add_argument("--watch", action="store_true", help="check again whenever a file changes; Ctrl-C ends it")
    work.add_argument("--jobs", metavar="N", type=int, help="how many processes (default: as many as there are cores)")
    work.add_argument(
        "--no-cache", dest="cache", action="store_false", default=None, help="examine every file anew, keep no results"
    )


def execute(args: Namespace) -> int:
    from sleuth import options
    from sleuth.cli.check_told import Telling
    from sleuth.cli.outlet import Outlet

    chosen = options.resolve(args, "check")
    _refuse_contradictions(args, chosen)
    baseline = _baseline(args, chosen)
    plan = _plan(args, chosen, None if args.write_baseline else baseline)
    telling = Telling(plan, Outlet(chosen, compact=True), statistics=args.statistics)
    if args.watch:
        return _watch(plan, telling)
    outcome = _checked(plan)
    telling.say_problems(outcome)
    if args.write_baseline and baseline is not None:
        return telling.accept(outcome, baseline, str(chosen.baseline))
    return telling.show_changes(outcome) if args.diff else telling.report(outcome)


def _refuse_contradictions(args: Namespace, chosen: Options) -> None:
    reads_text = "-" in args.paths
    mends = args.fix or args.unsafe_fixes or args.diff
    for wrong, why in (
        (reads_text and len(args.paths) > 1, "- is standard input, and goes alone"),
        (args.stdin_filename and not reads_text, "--stdin-filename names the text that - reads: add -"),
        (reads_text and (args.watch or args.write_baseline), "standard input can be neither watched nor put on record"),
        (args.watch and (mends or args.write_baseline), "--watch only looks: leave out what writes"),
        (args.write_baseline and mends, "--write-baseline accepts findings and does not fix them: choose one"),
        (args.write_baseline and chosen.baseline is None, "name the file to write: --baseline FILE --write-baseline"),
        (
            args.diff and chosen.format not in ("terminal", "concise"),
            "--diff is a format of its own",
        ),
        (
            args.statistics and chosen.format not in ("terminal", "concise", "json"),
            "--statistics goes with the formats terminal, concise and json",
        ),
    ):
        if wrong:
            raise Refusal(f"{why}; see `sleuth check --help`")


def _baseline(args: Namespace, chosen: Options) -> Baseline | None:
    from sleuth.source.baseline import BadBaseline, Baseline, load

    if chosen.baseline is None:
        return None
    if args.write_baseline and not chosen.baseline.exists():
        return Baseline(str(chosen.baseline))
    try:
        return load(str(chosen.baseline))
    except BadBaseline as problem:
        raise Refusal(str(problem)) from None


def _plan(args: Namespace, chosen: Options, baseline: Baseline | None) -> Plan:
    import sys

    from sleuth.options import RECORD
    from sleuth.source.checkup import Plan, Text
    from sleuth.source.runner import Request
    from sleuth.source.selection import Selection

    _ensure_checkable(chosen.select)
    exclude = tuple(map(_patterns, chosen.exclude))
    ignored_in_files = tuple((_patterns(pattern), names) for pattern, names in chosen.ignore_in)
    cache = str((RECORD / "cache").absolute()) if chosen.cache else None
    return Plan(
        paths=tuple(args.paths) or (".",),
        text=Text(args.stdin_filename or "stdin.py", sys.stdin.buffer.read()) if "-" in args.paths else None,
        exclude=exclude,
        exclude_named=args.force_exclude,
        request=Request(chosen.select, chosen.targets, chosen.jobs or _cores(), cache),
        selection=Selection(chosen.ignore, ignored_in_files, exclude),
        hints=chosen.hints,
        baseline=baseline,
        mend=args.fix or args.unsafe_fixes or args.diff,
        unsafe=args.unsafe_fixes,
    )


def _ensure_checkable(select: frozenset[str] | None) -> None:
    from sleuth.source import checks

    for name in sorted((select or frozenset()).difference(checks.names())):
        raise Refusal(f"--select: {name} does not show in the source; `sleuth run` looks for it while a program runs")


def _patterns(one: FilePattern) -> Patterns:
    from sleuth.source.ignoring import Patterns

    return Patterns(str(one.folder), [one.pattern])


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _checked(plan: Plan) -> Outcome:
    from sleuth.cli.progress import Progress
    from sleuth.source import checkup
    from sleuth.source.documents import Unreadable
    from sleuth.source.files import NoSuchPath

    try:
        with Progress("files") as progress:
            return checkup.check(plan, progress)
    except (NoSuchPath, Unreadable) as problem:
        raise Refusal(str(problem)) from None


def _watch(plan: Plan, telling: Telling) -> int:
    """Until the user has seen enough; the status is that of the last look."""
    from sleuth.cli import streams
    from sleuth.source import files, watching

    def found() -> tuple[str, ...]:
        try:
            return files.survey(plan.paths, plan.exclude, also_named=plan.exclude_named).files
        except files.NoSuchPath:
            # An editor may put a new file in the place of the old one just now.
            return ()

    status = 0
    watched: list[str] = []
    try:
        for turn, _ in enumerate(watching.changes(found, lambda: watched)):
            try:
                outcome = _checked(plan)
            except Refusal as problem:
                if turn == 0:
                    raise
                streams.complain(str(problem))
                continue
            watched[:] = outcome.watched
            streams.clear_screen()
            telling.say_problems(outcome)
            status = telling.report(outcome)
            streams.note(f"watching {len(outcome.files):,} file{'s' * (len(outcome.files) != 1)}; Ctrl-C ends this")
    except KeyboardInterrupt:
        return status
    return status
