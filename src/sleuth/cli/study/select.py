"""`sleuth study select`: the posts that matter, and the funnel that led to them."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from sleuth.study.select import Preset, Step

SUMMARY = "choose posts by tag, date, score, words and more; prints the funnel and writes a smaller corpus"

_EXAMPLES = """\
examples:
  sleuth study select corpus --preset implementation             only count: the funnel, beside the published one
  sleuth study select corpus --preset implementation --into howto
  sleuth study select corpus --tag 'tensorflow*' --tag pytorch --min-score 5 --accepted --into good
  sleuth study select corpus --nan-or-inf --since 2020-01-01 --format json
  sleuth study select --list                                     presets and filters
  sleuth study select --show bugs > mine.toml                    edit it, and use it: --preset mine.toml
  sleuth study select corpus --preset mine.toml --engine spark://host:7077 --into mine

A step of a preset may combine any filters; the options below are steps too, after those of the preset.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("corpus", nargs="?", metavar="CORPUS", help="a folder that ingest or select wrote")
    parser.add_argument("--preset", metavar="P", help="a preset by its name, or your own by its path")
    parser.add_argument("--into", metavar="DIR", help="write the selection here, as a corpus (default: only count)")
    parser.add_argument("--force", action="store_true", help="replace the corpus in DIR")
    engines = "duckdb (default) or spark://host:port, whose workers see CORPUS and DIR by the same paths"
    parser.add_argument("--engine", default="duckdb", metavar="E", help=engines)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to write the funnel")
    parser.add_argument("--list", action="store_true", help="list presets and filters")
    parser.add_argument("--show", metavar="P", help="print a preset, for you to edit")
    _add_filters(parser)


def _add_filters(parser: ArgumentParser) -> None:
    which = parser.add_argument_group("which posts")
    which.add_argument("--kind", action="append", metavar="K", help="question, issue, commit, …; may be repeated")
    which.add_argument("--site", action="append", metavar="S", help="stackoverflow, '*.stackexchange', github, …")
    which.add_argument(
        "--tag",
        action="append",
        metavar="T",
        help="with this tag, or another --tag; 'tensorflow*' is any that begins so",
    )
    which.add_argument("--all-tags", action="append", metavar="T", help="with this tag, and every other --all-tags")
    which.add_argument("--without-tag", action="append", metavar="T", help="without this tag")
    which.add_argument("--since", metavar="DAY", help="written on this day (2018-12-31, UTC) or later")
    which.add_argument("--until", metavar="DAY", help="written on this day or earlier")
    for count in ("score", "views", "answers"):
        which.add_argument(f"--min-{count}", type=int, metavar="N", help=f"with {count} of N or more")
    _add_yes_and_no(which, "accepted", "--accepted", "--not-accepted", "with an accepted answer")
    _add_yes_and_no(which, "answered", "--answered", "--unanswered", "with any answer")
    _add_yes_and_no(which, "closed", "--closed", "--open", "that were closed")
    which.add_argument("--how-to", action="store_true", help="whose title asks how to do something")
    which.add_argument("--nan-or-inf", action="store_true", help="that mention NaN or Inf")
    which.add_argument("--fix-commits", action="store_true", help="commits whose message says that they fix something")


def _add_yes_and_no(group: Any, name: str, yes: str, no: str, what: str) -> None:
    either = group.add_mutually_exclusive_group()
    either.add_argument(yes, dest=name, action="store_true", default=None, help=what)
    either.add_argument(no, dest=name, action="store_false", default=None, help=f"the contrary of {yes}")


def execute(args: Namespace) -> int:
    from sleuth.study.corpus import NotACorpus
    from sleuth.study.engine import NoEngine
    from sleuth.study.select import BadPreset
    from sleuth.study.select.values import BadFilter
    from sleuth.study.select.writing import CannotWrite

    try:
        if args.list:
            return _list(args.format)
        if args.show is not None:
            return _show(args.show)
        return _select(args)
    except (NotACorpus, NoEngine, BadPreset, BadFilter, CannotWrite) as error:
        raise Refusal(str(error)) from None


def _list(format: str) -> int:
    from sleuth.cli import streams
    from sleuth.study.select import load, names
    from sleuth.study.select.filters import families

    presets = [load(name) for name in names()]
    filters = {name: family.KEYS[name] for name, family in sorted(families().items())}
    if format == "json":
        listed = [{"name": one.name, "title": one.title, "source": one.source} for one in presets]
        return _show_json({"schema": 1, "presets": listed, "filters": filters})
    widest = max(map(len, [*names(), *filters]))
    lines = ["presets", *(f"  {one.name:<{widest}}  {one.title} ({one.source})" for one in presets)]
    lines += ["", "filters of a step", *(f"  {name:<{widest}}  {what}" for name, what in filters.items())]
    streams.show("\n".join([*lines, "", "`--show PRESET` prints one as TOML, for you to edit.\n"]))
    return 0


def _show(name: str) -> int:
    from sleuth.cli import streams
    from sleuth.study.select import load

    streams.show(load(name).text)
    return 0


def _select(args: Namespace) -> int:
    from pathlib import Path

    from sleuth.cli import streams
    from sleuth.cli.study.select_told import funnel_text
    from sleuth.cli.study.watch import Watch
    from sleuth.study import engine, select
    from sleuth.study.corpus import open_corpus
    from sleuth.study.select.writing import check_free, write

    if args.corpus is None:
        raise Refusal("which corpus? `sleuth study ingest` makes one; --list shows what can be selected")
    preset = _preset(args)
    corpus = open_corpus(args.corpus)
    into = Path(args.into) if args.into is not None else None
    if into is not None:
        check_free(into, corpus.folder, args.force)
    connection = engine.connect(args.engine)
    with engine.in_one_line(connection), Watch(connection):
        selection = select.select(engine.posts(connection, corpus), preset)
        if into is not None:
            write(connection, selection, preset, corpus, into, args.force)
    funnel = [step.as_data() for step in selection.funnel]
    if args.format == "json":
        about = {"name": preset.name, "title": preset.title, "source": preset.source}
        return _show_json({"schema": 1, "preset": about, "funnel": funnel, "into": args.into})
    streams.show(funnel_text(preset, funnel, streams.wants_colour()))
    if into is not None:
        streams.show(f"\n{selection.posts:,} posts are in {into}\n")
    return 0


def _preset(args: Namespace) -> Preset:
    """The steps of the preset, then those of the options."""
    from dataclasses import replace

    from sleuth.study.select import Preset, load

    own = _steps(args)
    if args.preset is None:
        if not own:
            raise Refusal("which posts? Give a --preset (--list shows them), or filters such as --tag")
        return Preset("filters", "by the filters given", own)
    preset = load(args.preset)
    return replace(preset, steps=(*preset.steps, *own)) if own else preset


def _steps(args: Namespace) -> tuple[Step, ...]:
    from sleuth.study.select.preset import step_of

    tags = {"any": args.tag, "all": args.all_tags, "none": args.without_tag}
    wanted: dict[str, Any] = {
        "kind": args.kind,
        "site": args.site,
        "tags": _given(tags),
        "created": _given({"since": args.since, "until": args.until}),
        **{name: _given({"min": getattr(args, f"min_{name}")}) for name in ("score", "views", "answers")},
        **{name: getattr(args, name) for name in ("accepted", "answered", "closed")},
        "how_to": args.how_to or None,
        "nan_or_inf": args.nan_or_inf or None,
        "fix_commit": args.fix_commits or None,
    }
    return tuple(step_of({name: value}) for name, value in (_given(wanted) or {}).items())


def _given(options: dict[str, Any]) -> dict[str, Any] | None:
    return {name: value for name, value in options.items() if value is not None} or None


def _show_json(data: dict[str, Any]) -> int:
    import json

    from sleuth.cli import streams

    streams.show(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    return 0
