"""`sleuth report`: show the report of an earlier run."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path

    from sleuth.findings import Report
    from sleuth.options import Options

SUMMARY = "show the report of an earlier run, also of one that was killed"
EXAMPLE = "sleuth report"

_EXAMPLES = """\
examples:
  sleuth report                                the newest run under .sleuth/runs
  sleuth report .sleuth/runs/NAME              that run
  sleuth report --format sarif --output f.sarif

exit status: 0 nothing found, 1 something found, 2 there is no such run
"""


def add_arguments(parser: ArgumentParser) -> None:
    from sleuth import options

    parser.epilog = _EXAMPLES
    parser.add_argument("run", nargs="?", metavar="RUN", help="the folder of a run (default: the newest)")
    parser.add_argument("--record", metavar="DIR", help="where the runs were noted (default: .sleuth)")
    options.add_arguments(parser)


def execute(args: Namespace) -> int:
    from sleuth import options
    from sleuth.cli import streams
    from sleuth.cli.outlet import Outlet
    from sleuth.live import record

    chosen = options.resolve(args, "report")
    outlet = Outlet(chosen)
    try:
        story = record.read(chosen_folder(args.run, chosen))
    except (LookupError, OSError, ValueError) as problem:
        raise Refusal(one_line(problem)) from None
    report = _without_ignored(story.report, chosen.ignore)
    streams.note(story.summary)
    outlet.publish(report)
    return _status(report)


def chosen_folder(named: str | None, chosen: Options) -> Path:
    from pathlib import Path

    from sleuth.live import record

    if named is None:
        return record.newest(chosen.record or Path(".sleuth"))
    folder = Path(named)
    if not folder.is_dir():
        raise Refusal(f"{named}: there is no such folder" if not folder.exists() else f"{named} is not a folder")
    return folder


def one_line(problem: Exception) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename}: {problem.strerror}"
    return str(problem.args[0]) if problem.args else type(problem).__name__


def _without_ignored(report: Report, ignore: frozenset[str]) -> Report:
    from dataclasses import replace

    kept = tuple(finding for finding in report.findings if finding.diagnosis not in ignore)
    return report if len(kept) == len(report.findings) else replace(report, findings=kept)


def _status(report: Report) -> int:
    from sleuth.findings import exit_status

    return exit_status(report.findings)
