"""`sleuth study label`: a page in the browser where raters read posts and press a key for each."""

from __future__ import annotations

import sys

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from sleuth.study.label.server import LabelServer
    from sleuth.study.label.session import Session, Tally

SUMMARY = "read the posts of a sample in the browser and label each with a key; goes on where you stopped"

_EXAMPLES = """\
examples:
  sleuth study label sample.json --codebook kinds --rater ann
  sleuth study label sample.json --codebook kinds --rater bob --round 2 --into labels.jsonl
  sleuth study label sample.json --codebook mine.toml --rater ann --rater bob   a page for each
  sleuth study label sample.json --codebook kinds --rater ann --left            how many are left
  sleuth study label sample.json --codebook kinds --rater ann --no-open --port 8080
                                               on a distant machine; then ssh -L 8080:127.0.0.1:8080

A rater sees the posts in an order of their own, and nobody else's labels. A label that the page shows as saved is on
disk; the same command goes on where the rater stopped. Notes are kept beside the labels, in labels.notes.jsonl.
Ctrl-C ends it.

exit status: 0 done, 2 there is nothing to label
"""
_HIGHEST_PORT = 65535
_LONGEST_NAME = 80
_EVERY_SECONDS = 0.5
_ERASE = "\r\x1b[2K"


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("sample", metavar="SAMPLE", help="a sample.json that `sleuth study sample` has written")
    parser.add_argument("--codebook", metavar="NAME", required=True, help="a codebook's name, or a TOML file of yours")
    parser.add_argument(
        "--rater", metavar="NAME", action="append", required=True, help="who labels (again for a second page)"
    )
    parser.add_argument("--round", type=int, default=1, metavar="N", help="which round of labelling (default: 1)")
    parser.add_argument(
        "--into", metavar="FILE", default="labels.jsonl", help="where the labels are added (default: labels.jsonl)"
    )
    parser.add_argument("--corpus", metavar="DIR", help="the corpus of the posts (default: the one the sample names)")
    parser.add_argument("--port", type=int, metavar="N", help="the port to serve at (default: one that stays the same)")
    parser.add_argument("--no-open", action="store_true", help="print the address, but open no browser")
    parser.add_argument("--left", action="store_true", help="say how many posts are left, and serve no page")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how --left writes (default: text)")


def execute(args: Namespace) -> int:
    _check(args)
    sessions = _sessions(args)
    if args.left:
        return _tell_what_is_left(sessions, args.format)
    return _serve(_servers(sessions, args), args)


def _check(args: Namespace) -> None:
    if args.port is not None and not 0 <= args.port <= _HIGHEST_PORT:
        raise Refusal(f"--port must be between 0 and {_HIGHEST_PORT}, not {args.port}")
    if args.round < 1:
        raise Refusal(f"--round must be 1 or more, not {args.round}")
    if args.format == "json" and not args.left:
        raise Refusal("--format goes with --left")
    for rater in args.rater:
        if not rater.strip() or rater != rater.strip() or not rater.isprintable() or len(rater) > _LONGEST_NAME:
            raise Refusal(f"--rater {rater!r} is no name")
    if len(set(args.rater)) < len(args.rater):
        raise Refusal("each --rater must have a name of their own")


def _sessions(args: Namespace) -> list[Session]:
    from sleuth.study.corpus import NotACorpus
    from sleuth.study.label.codebook import BadCodebook, load_codebook
    from sleuth.study.label.posts import NotASample, posts_of
    from sleuth.study.label.session import Session
    from sleuth.study.label.store import NotLabels

    try:
        codebook = load_codebook(args.codebook)
        posts = posts_of(args.sample, args.corpus)
        return [Session(posts, codebook, rater, args.round, args.into) for rater in args.rater]
    except (BadCodebook, NotACorpus, NotASample, NotLabels) as problem:
        raise Refusal(str(problem)) from None


def _tell_what_is_left(sessions: list[Session], format: str) -> int:
    from sleuth.cli import streams

    if format == "json":
        import json

        raters = [_as_data(session) for session in sessions]
        streams.show(json.dumps({"schema": 1, "raters": raters}, indent=2, ensure_ascii=False) + "\n")
    else:
        streams.show("".join(f"{_how_far(session.rater, session.tally())}\n" for session in sessions))
    return 0


def _as_data(session: Session) -> dict[str, Any]:
    tally = session.tally()
    return {
        "rater": session.rater,
        "codebook": session.codebook.name,
        "round": session.round,
        "posts": tally.posts,
        "labelled": tally.labelled,
        "doubtful": tally.doubtful,
        "seconds_left": tally.seconds_left,
        "left": session.left(),
    }


def _servers(sessions: list[Session], args: Namespace) -> list[LabelServer]:
    """One a rater: at the port that is asked for and those after it, or at the usual one of each."""
    from sleuth.cli import streams
    from sleuth.study.label.server import LabelServer, usual_port

    servers: list[LabelServer] = []
    for number, session in enumerate(sessions):
        resume = _command(args, session.rater)
        if args.port is not None:
            port = args.port + number if args.port else 0
            try:
                servers.append(LabelServer(session, port, resume))
            except (OSError, OverflowError) as problem:
                why = getattr(problem, "strerror", None) or problem
                raise Refusal(f"cannot serve at port {port}: {why}") from None
            continue
        try:
            servers.append(LabelServer(session, usual_port(session), resume))
        except OSError:
            streams.complain(f"the usual port of {session.rater} is taken, perhaps by another window; using another")
            servers.append(LabelServer(session, 0, resume))
    return servers


def _command(args: Namespace, *raters: str) -> str:
    """What to type to go on."""
    import shlex

    words = ["sleuth", "study", "label", args.sample, "--codebook", args.codebook]
    for rater in raters:
        words += ["--rater", rater]
    if args.round != 1:
        words += ["--round", str(args.round)]
    words += ["--into", args.into]
    for option, value in (("--corpus", args.corpus), ("--port", args.port)):
        words += [option, str(value)] if value is not None else []
    return shlex.join(words)


def _serve(servers: list[LabelServer], args: Namespace) -> int:
    import threading

    from sleuth.cli import browser, streams

    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        streams.show(f"{server.url}\n" if len(servers) == 1 else f"{server.session.rater}: {server.url}\n")
    try:
        for server in servers if not args.no_open else ():
            browser.show_page(server.url)
        _count_along(servers)
    except KeyboardInterrupt:
        for server in servers:
            server.shutdown()
            server.server_close()
        _say_goodbye(servers, args)
    return 0


def _count_along(servers: list[LabelServer]) -> None:
    """A line that says how far the raters are, for as long as it runs; nothing where no terminal listens."""
    import time

    from sleuth.cli import streams

    listens = sys.stderr is not None and sys.stderr.isatty()
    shown = None
    while True:
        line = " · ".join(_how_far(server.session.rater, server.session.tally()) for server in servers)
        if listens and line != shown:
            sys.stderr.write(f"{_ERASE}\x1b[2m{line[: streams.width() - 1]}\x1b[0m")
            sys.stderr.flush()
            shown = line
        time.sleep(_EVERY_SECONDS)


def _say_goodbye(servers: list[LabelServer], args: Namespace) -> None:
    from sleuth.cli import streams

    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(_ERASE)
    for server in servers:
        streams.remark(_how_far(server.session.rater, server.session.tally()))
    streams.remark(f"All of it is in {args.into}. To go on: {_command(args, *args.rater)}")


def _how_far(rater: str, tally: Tally) -> str:
    line = f"{rater}: {tally.labelled:,} of {tally.posts:,} posts labelled"
    if not tally.left:
        return f"{line}, all done"
    return line if tally.seconds_left is None else f"{line}, about {_duration(tally.seconds_left)} left"


def _duration(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
