"""`sleuth view`: a run as a page in the browser."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from sleuth.view.data import Run

SUMMARY = "show a run in the browser: its findings and curves, while it trains and afterwards"
EXAMPLE = "sleuth view"

_EXAMPLES = """\
examples:
  sleuth view                                  the newest run under .sleuth/runs
  sleuth view .sleuth/runs/NAME                that run
  sleuth view --export run.html                one file to keep or send; it needs no server
  sleuth view --no-open --port 8080            on a distant machine; then ssh -L 8080:127.0.0.1:8080

The page is served to this machine only, under an address with a secret in it. Ctrl-C ends it.

exit status: 0 shown, 2 there is no such run
"""
_HIGHEST_PORT = 65535


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("run", nargs="?", metavar="RUN", help="the folder of a run (default: the newest)")
    parser.add_argument("--record", metavar="DIR", help="where the runs were noted (default: .sleuth)")
    parser.add_argument("--export", metavar="FILE", help="write the page to one file instead of serving it")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port to serve at (default: any free one)")
    parser.add_argument("--no-open", action="store_true", help="print the address, but open no browser")
    parser.add_argument("--ignore", metavar="NAME", action="append", help="leave a diagnosis out")
    # Read by the options all commands share; a page has neither.
    parser.set_defaults(format=None, output=None)


def execute(args: Namespace) -> int:
    if not 0 <= args.port <= _HIGHEST_PORT:
        raise Refusal(f"--port must be between 0 and {_HIGHEST_PORT}, not {args.port}")
    if args.export is not None:
        return _export(args)
    return _serve(_run(args), args.port, args.no_open)


def _run(args: Namespace) -> Run:
    from sleuth import options
    from sleuth.cli.report import chosen_folder, one_line
    from sleuth.view.data import Run

    chosen = options.resolve(args, "view")
    try:
        return Run(chosen_folder(args.run, chosen), chosen.ignore)
    except (LookupError, OSError, ValueError) as problem:
        raise Refusal(one_line(problem)) from None


def _export(args: Namespace) -> int:
    from sleuth.cli import files, streams
    from sleuth.view import document

    files.check_writable(args.export)
    files.write(args.export, document.exported(_run(args).page()))
    streams.show(f"{args.export}\n")
    return 0


def _serve(run: Run, port: int, no_open: bool) -> int:
    from sleuth.cli import browser, streams
    from sleuth.view.server import Server

    try:
        server = Server(run, port)
    except OSError as problem:
        raise Refusal(f"cannot serve at port {port}: {problem.strerror}") from None
    with server:
        streams.show(f"{server.url}\n")
        try:
            if not no_open:
                browser.show_page(server.url)
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0
