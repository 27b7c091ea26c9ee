"""`sleuth study ingest`: dumps and exports become a corpus."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path
    from typing import Any

    from sleuth.study.ingest.choice import Choice

SUMMARY = "take posts, issues and commits in from dumps and exports, into a corpus of typed Parquet"

_DAY_MS = 86_400_000

_EXAMPLES = """\
examples:
  sleuth study ingest Posts.xml --into corpus                         a Stack Exchange dump
  sleuth study ingest stackoverflow.com-Posts.7z --into dl --tag tensorflow --tag pytorch
  sleuth study ingest Posts.xml --preset implementation --into howto  take in and select in one go
  sleuth study ingest issues.json commits.json --into issues          as GitHub's API gives them
  sleuth study ingest posts.csv --into corpus --column created=date --column body=question
  sleuth study ingest exports/ --into corpus                          every file of posts in a folder

It takes Posts.xml (plain, .gz or .7z), JSON of the Stack Exchange and GitHub APIs (lists, pages, lines; also .gz), CSV
and Parquet. Rows that cannot be read are kept in set-aside.jsonl, with the reason. A run that was stopped, however
roughly, goes on where it was when it is given again. With --preset, what was taken in stays in HOWTO-ingested beside
the selection HOWTO: rows without the preset's tags are dropped before they are parsed.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="a file of posts, or a folder of such files")
    parser.add_argument("--into", metavar="FOLDER", required=True, help="where the corpus goes")
    parser.add_argument("--site", metavar="NAME", help="whose posts these are (default: as file and folder are named)")
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="WHAT=NAME",
        help="the column of that name holds this: created=date; may be repeated",
    )
    parser.add_argument(
        "--encoding", metavar="NAME", default="", help="of text that is not UTF-8, such as cp1252 (default: as it says)"
    )
    parser.add_argument("--anew", action="store_true", help="begin afresh, whatever an earlier run left in the folder")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to tell what was done")
    which = parser.add_argument_group("which posts (default: all; an answer goes with its question)")
    which.add_argument(
        "--tag",
        action="append",
        default=[],
        metavar="TAG",
        help="those with this tag, or another --tag; 'tensorflow*' is any that begins so",
    )
    which.add_argument("--since", metavar="DAY", help="those written on this day (2018-12-31, UTC) or later")
    which.add_argument("--until", metavar="DAY", help="those written on this day or earlier")
    which.add_argument("--preset", metavar="P", help="then select by this preset, as `sleuth study select` does")


def execute(args: Namespace) -> int:
    from pathlib import Path

    into = Path(args.into)
    if args.preset is None:
        return _ingest(args, into, tuple(args.tag))
    tags = tuple(args.tag) or _tags_of_preset(args.preset)
    taken_in = into.with_name(f"{into.name}-ingested")
    status = _ingest(args, taken_in, tags, quiet=args.format == "json")
    return max(status, _select(args, taken_in))


def _ingest(args: Namespace, into: Path, tags: tuple[str, ...], quiet: bool = False) -> int:
    from pathlib import Path

    from sleuth.cli.progress import Progress
    from sleuth.cli.streams import complain, remark
    from sleuth.study.ingest import folder, run, sources, streams

    choice, columns = _choice(args, tags), _columns(args.column)
    if args.encoding and not streams.is_encoding(args.encoding):
        raise Refusal(f"--encoding {args.encoding}: there is no such encoding; cp1252, latin-1 and gb18030 are some")
    try:
        found = []
        for path in args.sources:
            here, others = sources.find(Path(path), args.site, columns, args.encoding)
            found += here
            for line in others:
                remark(f"sleuth: left out: {line}")
        if args.anew:
            folder.emptied(into)
        was_finished = (folder.found_in(into) or {}).get("finished", False)
        with Progress("MB", per=1_000_000, rate=True) as progress:
            manifest = run.ingest(found, into, choice, tell=progress)
    except KeyboardInterrupt:
        complain(f"stopped; what is in {into} is kept, and the same command goes on from there")
        raise
    except sources.CannotIngest as error:
        raise Refusal(str(error)) from None
    except OSError as error:
        raise Refusal(f"{error.filename or into}: {error.strerror or error}") from None
    return _tell(args.format, str(into), manifest, was_finished, quiet)


def _tags_of_preset(name: str) -> tuple[str, ...]:
    """Tags that every post of the preset has one of, where a step says so."""
    from sleuth.study.select import BadPreset, load

    try:
        steps = load(name).steps
    except BadPreset as error:
        raise Refusal(str(error)) from None
    for step in steps:
        tags = step.filters.get("tags", {})
        if not step.by_hand and isinstance(tags, dict) and "any" in tags:
            return tuple([tags["any"]] if isinstance(tags["any"], str) else tags["any"])
    return ()


def _select(args: Namespace, taken_in: Path) -> int:
    from argparse import ArgumentParser
    from pathlib import Path

    from sleuth.cli import streams
    from sleuth.cli.study import select
    from sleuth.study.corpus import NotACorpus, open_corpus

    if not args.anew and Path(args.into).exists():
        try:
            manifest = open_corpus(args.into).manifest
        except NotACorpus as error:
            raise Refusal(str(error)) from None
        if manifest.get("from") != str(taken_in.resolve()) or manifest["preset"]["name"] != args.preset:
            raise Refusal(f"{args.into} holds another selection; use --anew or another folder")
        streams.show(f"{args.into} was finished already: {_count(manifest['posts'], 'post')}\n")
        return 0
    parser = ArgumentParser()
    select.add_arguments(parser)
    words = [str(taken_in), "--preset", args.preset, "--into", args.into, "--format", args.format]
    return int(select.execute(parser.parse_args([*words, *(["--force"] if args.anew else [])])))


def _choice(args: Namespace, tags: tuple[str, ...]) -> Choice:
    from sleuth.study.ingest.choice import Choice

    if not all(tags):
        raise Refusal("--tag takes the name of a tag, not nothing")
    since, until = _day_ms("--since", args.since), _day_ms("--until", args.until)
    if since is not None and until is not None and since > until:
        raise Refusal(f"--since {args.since} is after --until {args.until}: no post can be both")
    return Choice(tags, since, None if until is None else until + _DAY_MS)


def _day_ms(option: str, value: str | None) -> int | None:
    from datetime import date, datetime, timezone

    if value is None:
        return None
    try:
        day = date.fromisoformat(value)
    except ValueError:
        raise Refusal(f"{option} is not a time: {value!r}; write a day such as 2018-12-31") from None
    return int(datetime(day.year, day.month, day.day, tzinfo=timezone.utc).timestamp()) * 1000


def _columns(asked: list[str]) -> dict[str, str]:
    from sleuth.study.ingest.columns import NAMES

    columns = {}
    for words in asked:
        what, equals, name = words.partition("=")
        if not equals or not name or what not in NAMES:
            raise Refusal(f"--column {words}: write WHAT=NAME, where WHAT is one of {', '.join(NAMES)}")
        columns[what] = name
    return columns


def _tell(format: str, into: str, manifest: dict[str, Any], was_finished: bool, quiet: bool) -> int:
    import json

    from sleuth.cli import streams
    from sleuth.study.ingest.sources import ANY_SITE

    damaged = [source for source in manifest["sources"] if "damaged" in source]
    if format == "json" and not quiet:
        told = {name: value for name, value in manifest.items() if name != "set_aside_bytes"}
        streams.show(json.dumps({"schema": 1, "corpus": into, **told}, indent=2) + "\n")
    elif not quiet:
        streams.show("\n".join(_lines(into, manifest, was_finished)) + "\n")
        if any(source["format"] == "dump" and source["site"] == ANY_SITE for source in manifest["sources"]):
            streams.remark("sleuth: no file or folder names the site; --site stackoverflow would")
    for source in damaged:
        streams.complain(f"{source['path']} is not whole: {source['damaged']}")
    return 1 if damaged else 0


def _lines(into: str, manifest: dict[str, Any], was_finished: bool) -> list[str]:
    lines = [f"{into} {'was finished already' if was_finished else 'is finished'}: {_count(manifest['posts'], 'post')}"]
    if manifest["left_out"]:
        lines.append(f"  {_count(manifest['left_out'], 'other')} {_were(manifest['left_out'])} not asked for")
    if manifest["came_twice"]:
        lines.append(f"  {_count(manifest['came_twice'], 'post')} came more than once: the first one was kept")
    if manifest["set_aside"]:
        lines.append(f"  {_count(manifest['set_aside'], 'row')} could not be read: {into}/set-aside.jsonl says why")
    return lines


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
