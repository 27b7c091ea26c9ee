"""`sleuth dry`: rehearse a program without its GPU."""

from __future__ import annotations

import os
import sys

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from sleuth.dry.rehearsal import Rehearsal
    from sleuth.dry.scenario import Scenario

SUMMARY = "rehearse a program without its GPU, in seconds: what would crash, and how much memory it would need"
EXAMPLE = "sleuth dry train.py"

_USAGE = """\
sleuth dry [options] SCRIPT [ARGUMENTS ...]
       sleuth dry [options] -m MODULE [ARGUMENTS ...]"""

_EXAMPLES = """\
examples:
  sleuth dry train.py --lr 3                 on a pretended GPU of 24 GB; all that follows the script is the program's
  sleuth dry --card 80GB train.py            on a larger one
  sleuth dry --cards 2 train.py              on two
  sleuth dry --device mps train.py           on an Apple one; --device cpu pretends none
  sleuth dry --summary train.py              every layer with its shapes, parameters and memory
  sleuth dry --summary=layers.html train.py  the same as a page
  sleuth dry --largest-batch train.py        the largest batch that fits the card
  sleuth dry --numbers fake train.py         never compute, not even where it would be cheap

Nothing is written, sent or started: what the program wanted to is listed.
exit status: 0 nothing found, 1 something found, 2 the program could not be rehearsed
"""


def add_arguments(parser: ArgumentParser) -> None:
    from sleuth import options

    parser.usage = _USAGE
    parser.epilog = _EXAMPLES
    parser.add_argument("program", nargs="...", metavar="SCRIPT [ARGUMENTS ...]", help="the program, and its arguments")
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module, found as python does")
    parser.add_argument("--device", default=None, help="what is pretended: cuda, cuda:2, mps or cpu (default: cuda)")
    parser.add_argument("--cards", type=int, default=None, metavar="N", help="how many of them (default: 1)")
    parser.add_argument("--card", metavar="SIZE", help="how large each is, e.g. 80GB (default: 24GB)")
    parser.add_argument(
        "--numbers",
        choices=("auto", "real", "fake"),
        help="compute for real, or shapes only (default: real where that is affordable)",
    )
    parser.add_argument("--ranks", type=int, default=None, metavar="N", help="be one of so many processes")
    parser.add_argument(
        "--seconds", type=float, default=None, metavar="S", help="how long one may compute or wait (60)"
    )
    parser.add_argument("--no-corners", dest="corners", action="store_false", default=None, help="only the plain run")
    parser.add_argument("--show-output", action="store_true", default=None, help="show what the program prints, too")
    parser.add_argument(
        "--summary", nargs="?", const="-", metavar="FILE.html", help="a table of every layer; to a page with =FILE.html"
    )
    parser.add_argument("--largest-batch", action="store_true", help="search the largest batch that fits the card")
    options.add_arguments(parser)


def execute(args: Namespace) -> int:
    from sleuth import options, program
    from sleuth.cli import streams
    from sleuth.cli.dry_told import facts, lines
    from sleuth.cli.outlet import Outlet
    from sleuth.report import Aside

    if args.summary and args.summary != "-" and not args.summary.endswith((".html", ".htm")):
        # `--summary train.py`: what follows is the program, unless it is a page.
        args.program, args.summary = [args.summary, *args.program], "-"
    chosen = options.resolve(args, "dry")
    for name, value in chosen.dry.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    scenario = _scenario(args)
    if not hasattr(os, "fork"):
        raise Refusal("a rehearsal needs a system that can fork processes, as Linux and macOS do")
    outlet = Outlet(chosen)
    try:
        program.find(scenario.target, scenario.arguments, scenario.module)
    except program.CannotRun as problem:
        raise Refusal(str(problem)) from None
    done = _rehearsed(scenario, args, chosen.ignore)
    broken = next((outcome for outcome in done.outcomes if "broken" in outcome.notes), None)
    if broken is not None:
        streams.complain("something inside Sleuth failed: " + _last_line(broken.notes["broken"]["what"]))
    # A report that another program reads is alone on standard output.
    beside = sys.stdout if outlet.format == "terminal" else sys.stderr

    def say(text: str) -> None:
        streams.show(text + "\n", beside)

    more = facts(done)
    if args.largest_batch:
        more["largest_batch"] = _largest_batch(done, say)
    if args.summary:
        _summary(done, args.summary, say)
    for line in lines(done):
        streams.remark(line)
    outlet.publish(done.report, Aside(more={"rehearsal": more}))
    return done.report.exit


def _scenario(args: Namespace) -> Scenario:
    from sleuth.dry.scenario import USUAL_CARD, Scenario, bytes_of

    words: list[str] = args.program[1:] if args.program[:1] == ["--"] else args.program
    if not words:
        missing = "a module after -m" if args.module else "a script, or -m and a module"
        raise Refusal(f"name the program to rehearse: {missing}; see `sleuth dry --help`")
    device = args.device or "cuda"
    kind, _, number = device.partition(":")
    if kind not in ("cuda", "mps", "cpu") or (number and not number.isdigit()):
        raise Refusal(f"--device {device}: choose cuda, cuda:2, mps or cpu")
    for name in ("cards", "ranks", "seconds"):
        given = getattr(args, name)
        if given is not None and given <= 0:
            raise Refusal(f"--{name} must be more than 0, not {given:g}")
    try:
        card = USUAL_CARD if args.card is None else bytes_of(args.card)
    except ValueError as problem:
        raise Refusal(f"--card: {problem}") from None
    return Scenario(
        target=words[0],
        arguments=tuple(words[1:]),
        module=args.module,
        device=device,
        # Ranks of one machine have a card each.
        cards=args.cards or args.ranks or 1,
        card_bytes=card,
        seconds=args.seconds or 60.0,
        ranks=args.ranks or 0,
    )


def _rehearsed(scenario: Scenario, args: Namespace, ignore: frozenset[str]) -> Rehearsal:
    import gc
    import warnings

    from sleuth.cli import streams

    streams.note(f"rehearsing {scenario.target} ...")
    try:
        with warnings.catch_warnings():
            import torch  # noqa: F401  here, once: every rehearsal starts from this process
    except ModuleNotFoundError:
        raise Refusal("this needs PyTorch, which is not installed here: pip install 'sleuth-ml[torch]'") from None
    from sleuth.frameworks import torch_private

    too_old = torch_private.too_old()
    if too_old is not None:
        raise Refusal(too_old)
    for remark in torch_private.remarks("dry"):
        streams.note(remark)
    from sleuth.dry.rehearsal import prepare, rehearse

    prepare()
    # What is here now stays to the end: neither a rehearsal nor this process on its way out need go through it again.
    gc.freeze()
    return rehearse(
        scenario,
        numbers=args.numbers or "auto",
        in_corners=() if args.corners is False else None,
        ignore=ignore,
        show_output=bool(args.show_output),
        progress=lambda what: streams.remark(f"  {what} ...") if sys.stderr.isatty() else None,
    )


def _summary(done: Rehearsal, wanted: str, say: Callable[[str], None]) -> None:
    from sleuth.cli import files, streams
    from sleuth.report import layer_table

    table, memory = done.plain.notes.get("table"), done.plain.notes.get("memory")
    if table is None:
        streams.complain("no model was called, so there are no layers to show")
    elif wanted == "-":
        say(layer_table.text(table, memory, streams.width(), streams.wants_colour()))
    else:
        files.write(wanted, layer_table.html(table, memory))


def _largest_batch(done: Rehearsal, say: Callable[[str], None]) -> int | None:
    from sleuth.dry.memory.largest_batch import largest_batch

    answer = largest_batch(done.scenario, done.plain)
    say(answer.sentence)
    return answer.batch


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1] if text.strip() else "?"
