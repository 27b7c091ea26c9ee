"""`sleuth lsp`: what `sleuth check` finds, shown in an editor while one types."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

SUMMARY = "a language server: what `sleuth check` finds, in your editor"
EXAMPLE = "sleuth lsp"

_EXAMPLES = """\
examples:
  sleuth lsp                    speak the language server protocol over standard input and output
  sleuth lsp --tcp 2087         over a port of this machine, for one editor that connects to 127.0.0.1:2087

An editor starts it, not a person. It needs pip install 'sleuth-ml[lsp]'.

exit status: 0 the editor said goodbye, 1 it left without, 2 Sleuth could not do its job
"""
_HIGHEST_PORT = 65535


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("--tcp", type=int, metavar="PORT", help="listen at this port of this machine, not on stdin")
    # Many clients add it to whatever command they are given.
    parser.add_argument("--stdio", action="store_true", help="use stdin and stdout, as it does anyway")


def execute(args: Namespace) -> int:
    if args.tcp is not None and not 1 <= args.tcp <= _HIGHEST_PORT:
        raise Refusal(f"--tcp must be between 1 and {_HIGHEST_PORT}, not {args.tcp}")
    if args.tcp is not None and args.stdio:
        raise Refusal("choose one of --tcp and --stdio")
    _ensure_installed()
    from sleuth.integrations.lsp import connection

    if args.tcp is None:
        from sleuth.cli import streams

        # Whatever else prints must not end up in the middle of a message.
        ours = streams.take_stdout()
        connection.over_stdio(ours.buffer)
    try:
        connection.over_tcp(args.tcp)
    except OSError as problem:
        raise Refusal(f"cannot listen at port {args.tcp}: {problem.strerror}") from None


def _ensure_installed() -> None:
    try:
        # Older versions have no such module.
        import pygls.lsp.server  # noqa: F401
    except ImportError:
        raise Refusal("`sleuth lsp` needs pip install 'sleuth-ml[lsp]'") from None
