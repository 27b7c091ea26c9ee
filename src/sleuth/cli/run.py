"""`sleuth run`: watch a program while it runs."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from sleuth.cli.outlet import Outlet
    from sleuth.findings import Report
    from sleuth.options import Options

SUMMARY = "run a program and watch it: say why it turns NaN or does not learn, and which line is to blame"
EXAMPLE = "sleuth run train.py --lr 3"

_USAGE = """\
sleuth run [options] SCRIPT [ARGUMENTS ...]
       sleuth run [options] -m MODULE [ARGUMENTS ...]"""

_EXAMPLES = """\
examples:
  sleuth run train.py --lr 3                 all that follows the script belongs to the program
  sleuth run -m package.train --lr 3         the same for a module
  sleuth run --keep-going train.py           skip the poisoned update and train on
  sleuth run train.py > log.txt              the program's output; the report is on stderr
  sleuth run --format json train.py          the report on stdout, what the program prints on stderr
  sleuth run --ignore log-of-zero train.py   silence a diagnosis
  sleuth run --experiments 0 train.py        never try a learning rate on a copy of the model
  sleuth run --expect "the loss falls by half within 200 steps" train.py
  sleuth run --tensorboard runs train.py     the curves as TensorBoard event files as well

exit status: the program's own when that is not 0; else 0 nothing found, 1 something found;
2 when the program could not be started
"""


def add_arguments(parser: ArgumentParser) -> None:
    from sleuth import options

    parser.usage = _USAGE
    parser.epilog = _EXAMPLES
    # Everything from the first word that is not an option belongs to the program, as with python itself.
    parser.add_argument("program", nargs="...", metavar="SCRIPT [ARGUMENTS ...]", help="the program, and its arguments")
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module, found as python does")
    parser.add_argument("--keep-going", action="store_true", default=None, help="skip the poisoned update and train on")
    parser.add_argument(
        "--experiments",
        type=float,
        metavar="SECONDS",
        help="how long experiments on a copy of the model may take in all, when training goes badly (default: 20)",
    )
    parser.add_argument(
        "--expect",
        metavar="SENTENCE",
        action="append",
        help="what should be true of the run, in words; repeat it for more (see `sleuth explain broken-expectation`)",
    )
    parser.add_argument("--tensorboard", metavar="DIR", help="write the curves as TensorBoard event files, too")
    parser.add_argument("--status", action="store_true", default=None, help="show step, loss and speed while it runs")
    record = parser.add_mutually_exclusive_group()
    record.add_argument("--record", metavar="DIR", help="where to note the run as it goes (default: .sleuth)")
    record.add_argument("--no-record", action="store_true", help="note nothing on disk")
    parser.add_argument(
        "--no-bundle",
        dest="bundle",
        action="store_false",
        default=None,
        help="do not keep the first step that fails for `sleuth replay`",
    )
    options.add_arguments(parser)


def execute(args: Namespace) -> int:
    import sys

    from sleuth import options
    from sleuth.cli.outlet import Outlet

    target, *arguments = _words(args)
    chosen = options.resolve(args, "run")
    # Standard output is the program's own.
    outlet = Outlet(chosen, stream=sys.stdout if args.output == "-" else sys.stderr)
    report = _watched(target, arguments, args, chosen, outlet)
    from sleuth import live

    live.say_if_it_trains_on()
    return report.exit


def _words(args: Namespace) -> list[str]:
    words: list[str] = args.program
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        missing = "a module after -m" if args.module else "a script, or -m and a module"
        raise Refusal(f"name the program to run: {missing}; see `sleuth run --help`")
    return words


def _watched(target: str, arguments: list[str], args: Namespace, chosen: Options, outlet: Outlet) -> Report:
    from dataclasses import asdict

    from sleuth import program
    from sleuth.report import Aside

    try:
        subject = program.find(target, arguments, args.module)
    except program.CannotRun as problem:
        raise Refusal(str(problem)) from None
    outlet.keep_stdout_for_the_report()
    try:
        from sleuth import live
    except ModuleNotFoundError as missing:
        if missing.name != "torch":
            raise
        raise Refusal("this needs PyTorch, which is not installed here: pip install 'sleuth-ml[torch]'") from None
    if chosen.tensorboard is not None and chosen.record is None:
        raise Refusal("--tensorboard takes its curves from the record: leave out --no-record")
    seconds = {} if chosen.experiments is None else {"experiments": chosen.experiments}
    try:
        return live.run(
            subject,
            keep_going=chosen.keep_going,
            record=chosen.record,
            ignore=chosen.ignore,
            tensorboard=chosen.tensorboard,
            status=chosen.status,
            bundle=chosen.bundle,
            expect=chosen.expect,
            quiet=args.quiet,
            publish=lambda report, seen: outlet.publish(report, Aside(more={"watched": asdict(seen)})),
            **seconds,
        )
    except (live.NoTensorBoard, live.CannotExpect) as problem:
        raise Refusal(str(problem)) from None
