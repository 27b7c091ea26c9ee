"""`sleuth study sample`: which posts to read, how many, and what each stands for."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from sleuth.study.label.sample import Deal, Sample
    from sleuth.study.label.store import Label

SUMMARY = (
    "draw a random or stratified sample of posts to label, with weights, a seed and the size for a margin of error"
)

_EXAMPLES = """\
examples:
  sleuth study sample howto                                   how many to read for 95 %, ±5 %; draws nothing
  sleuth study sample howto --into sample.json                that many, at random
  sleuth study sample howto --size 600 --seed 7 --into sample.json
  sleuth study sample howto --by year --into sample.json      each year by its share
  sleuth study sample howto --by tag:tensorflow,pytorch --share equal --size 300 --into sample.json
  sleuth study sample howto --by label --labels guessed.jsonl --take crash=100 --take performance=50 --into s.json
  sleuth study sample howto --without sample.json --size 100 --into second-round.json

The same seed draws the same posts, on any engine. Answers and pages about tags are not drawn.
`sleuth study label` goes on from there.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("corpus", metavar="CORPUS", help="a folder that ingest or select wrote")
    parser.add_argument("--into", metavar="FILE", help="write the sample here, as JSON (default: only count)")
    parser.add_argument("--force", action="store_true", help="replace the sample in FILE")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another seed draws other posts (default: 0)")
    parser.add_argument("--engine", default="duckdb", metavar="E", help="duckdb (default) or spark://host:port")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to write what was drawn")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="FILE",
        help="draw none of the posts in this sample or labels file; may be repeated",
    )
    size = parser.add_argument_group("how many")
    size.add_argument("--size", type=int, metavar="N", help="this many in all (default: as many as the margin needs)")
    size.add_argument("--confidence", type=float, default=0.95, metavar="C", help="of the margin (default: 0.95)")
    size.add_argument(
        "--margin", type=float, default=0.05, metavar="M", help="of error (default: 0.05, which is ±5 %%)"
    )
    strata = parser.add_argument_group("strata")
    strata.add_argument("--by", metavar="WHAT", help="year, tag:a,b,c, label, site, kind_of_post, score, …")
    strata.add_argument("--labels", metavar="FILE", help="where --by label finds them: labels.jsonl, or a CSV")
    strata.add_argument("--codebook", metavar="NAME", help="of the labels, where the file holds several")
    strata.add_argument(
        "--share",
        choices=("proportional", "equal"),
        default="proportional",
        help="to each stratum its share, or the same number (default: proportional)",
    )
    strata.add_argument(
        "--take", action="append", metavar="NAME=N", help="N of this stratum, and none of those not named"
    )


def execute(args: Namespace) -> int:
    from sleuth.study.corpus import NotACorpus
    from sleuth.study.engine import NoEngine
    from sleuth.study.label.sample import NotASample
    from sleuth.study.label.sizes import BadSize
    from sleuth.study.label.store import NotLabels

    try:
        return _sample(args)
    except (NotACorpus, NoEngine, NotASample, BadSize, NotLabels) as error:
        raise Refusal(str(error)) from None


def _sample(args: Namespace) -> int:
    from pathlib import Path

    from sleuth.cli import streams
    from sleuth.study import engine
    from sleuth.study.corpus import open_corpus
    from sleuth.study.label.sample import NotASample, draw, write_sample

    _check(args)
    into = Path(args.into) if args.into is not None else None
    if into is not None and into.exists() and not args.force:
        raise NotASample(f"{into} is there already; --force replaces it")
    corpus = open_corpus(args.corpus)
    labels, without = _labels(args), _taken(args.without)
    connection = engine.connect(args.engine)
    sample = draw(connection, corpus, _deal(args), seed=args.seed, by=args.by, labels=labels, without=without)
    if not sample.population:
        raise Refusal(f"there is no post to draw in {args.corpus}" + (" but those in --without" if without else ""))
    if into is not None:
        write_sample(sample, into, args.force)
    if args.format == "json":
        return _show_json(sample, args)
    streams.show(_as_text(sample, args))
    return 0


def _check(args: Namespace) -> None:
    if args.size is not None and args.size < 1:
        raise Refusal(f"--size {args.size}: a sample holds one post at least")
    if (args.by == "label") != (args.labels is not None):
        raise Refusal("--by label and --labels FILE go together")
    if args.take and args.by is None:
        raise Refusal("--take names strata; say with --by what they are")
    if args.take and args.size is not None:
        raise Refusal("--take says how many of each stratum; leave --size out")


def _deal(args: Namespace) -> Deal:
    from sleuth.study.label import sizes
    from sleuth.study.label.sample import deal_of

    if not args.take:
        return deal_of(args.share, args.size, args.confidence, args.margin)
    wanted = {}
    for asked in args.take:
        name, _, count = asked.rpartition("=")
        if not name or not count.isdigit():
            raise Refusal(f"--take {asked}: say NAME=N, as --take 2018=40")
        wanted[name] = int(count)
    return lambda populations: sizes.given(wanted, populations)


def _labels(args: Namespace) -> list[Label]:
    from sleuth.study.label.store import read_labels

    if args.labels is None:
        return []
    labels = [label for label in read_labels(args.labels) if args.codebook in (None, label.codebook)]
    codebooks = sorted({label.codebook for label in labels})
    if len(codebooks) > 1:
        raise Refusal(f"{args.labels} holds labels of several codebooks; say --codebook {' or '.join(codebooks)}")
    if not labels:
        raise Refusal(f"{args.labels} holds no labels" + (f" of {args.codebook}" if args.codebook else ""))
    return labels


def _taken(files: list[str]) -> set[str]:
    """The posts of earlier samples or labels."""
    from pathlib import Path

    from sleuth.study.label.sample import NotASample, read_sample
    from sleuth.study.label.store import NotLabels, read_labels

    taken: set[str] = set()
    for file in files:
        if not Path(file).exists():
            raise Refusal(f"--without {file}: there is no such file")
        try:
            taken |= {post.key for post in read_sample(file).posts}
        except NotASample:
            try:
                taken |= {label.key for label in read_labels(file)}
            except NotLabels:
                raise Refusal(f"--without {file}: neither a sample nor labels") from None
    return taken


def _show_json(sample: Sample, args: Namespace) -> int:
    import json

    from sleuth.cli import streams

    strata = [vars(stratum) for stratum in sample.strata]
    told: dict[str, Any] = {"schema": 1, "design": sample.design, "by": sample.by, "seed": sample.seed}
    told |= {"population": sample.population, "size": len(sample.posts), "strata": strata}
    told |= {"confidence": args.confidence, "margin": _margin(sample, args), "into": args.into}
    streams.show(json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    return 0


def _margin(sample: Sample, args: Namespace) -> float | None:
    """What the sample gives in truth; a sample that is no small copy of the corpus has its own for every question."""
    from sleuth.study.label.sizes import margin_of

    if not sample.posts or args.take or (sample.by is not None and args.share == "equal"):
        return None
    return margin_of(len(sample.posts), sample.population, args.confidence)


def _as_text(sample: Sample, args: Namespace) -> str:
    from sleuth.cli.study.columns import aligned

    margin = _margin(sample, args)
    size, population = len(sample.posts), sample.population
    text = f"{size:,} of {population:,} posts"
    if margin is not None:
        text += f": {100 * args.confidence:g} % confidence, ±{100 * margin:.1f} %"
    text += f"; seed {sample.seed}\n"
    if sample.by is not None:
        rows = [
            (one.name, f"{one.population:,}", f"{one.sampled:,}", _weight(one.population, one.sampled))
            for one in sample.strata
        ]
        text += "\n" + aligned((sample.by.split(":")[0], "posts", "drawn", "weight"), rows)
    left_out = sum(one.population for one in sample.strata if one.sampled == 0)
    if left_out and size:
        text += f"\n{left_out:,} posts are in strata of which none is drawn: the sample says nothing about them.\n"
    return text + (
        "\nNothing is written; --into FILE draws it.\n" if args.into is None else f"\nIt is in {args.into}\n"
    )


def _weight(population: int, sampled: int) -> str:
    return f"{population / sampled:.2f}" if sampled else "–"
