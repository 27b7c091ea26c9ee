"""`sleuth study analyse`: the tables of the four studies, for any corpus."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from sleuth.study.analyses import Skipped
    from sleuth.study.material import Material
    from sleuth.study.result import Result

SUMMARY = "count, compare, correlate: every table of the four studies, beside the numbers they printed"

_EXAMPLES = """\
examples:
  sleuth study analyse --list                                   the analyses, and what they need
  sleuth study analyse howto                                    all that the corpus can answer
  sleuth study analyse howto popularity difficulty --labels labels.jsonl
  sleuth study analyse howto --labels labels.csv --study liu    beside what Liu et al. printed
  sleuth study analyse howto popularity:liu.phase --labels labels.csv --format csv
  sleuth study analyse howto --labels labels.csv --figures figures   an SVG file a figure
  sleuth study analyse corpus --engine spark://host:7077 --format json --output analyses.json

Labels are a labels.jsonl of `sleuth study label`, or a CSV with the columns key, scheme, label and rater. Posts whose
raters differ are left out, unless a rater called "final" has decided.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("corpus", nargs="?", metavar="CORPUS", help="a folder that ingest or select wrote")
    parser.add_argument("names", nargs="*", metavar="NAME", help="an analysis, or one:codebook (default: all)")
    parser.add_argument("--labels", metavar="FILE", help="what raters said of the posts")
    parser.add_argument("--study", metavar="S", help="put the figures of zhang, islam, liu or wang beside")
    parser.add_argument("--engine", default="duckdb", metavar="E", help="duckdb (default) or spark://host:port")
    parser.add_argument("--format", choices=("text", "json", "csv"), default="text", help="how to write the tables")
    parser.add_argument("--output", metavar="FILE", help="write to this file (default: standard output)")
    parser.add_argument("--figures", metavar="FOLDER", help="draw each figure there, as an SVG file")
    parser.add_argument("--list", action="store_true", help="list the analyses")


def execute(args: Namespace) -> int:
    from sleuth.cli import files, streams
    from sleuth.cli.study import analyse_told

    if args.list:
        streams.show(analyse_told.listed(args.format))
        return 0
    if args.corpus is None:
        raise Refusal("which corpus? `sleuth study analyse --list` shows the analyses")
    if args.output:
        files.check_writable(args.output)
    results, skipped = _run(_material(args), args.names)
    if args.names and not results:
        raise Refusal("; ".join(f"{each.name}: {each.why}" for each in skipped))
    text = analyse_told.told(results, skipped, args)
    if args.figures:
        _draw(results, args.figures)
    if args.output:
        files.write(args.output, text, "the tables")
    else:
        streams.show(text)
    return 0


def _draw(results: list[Result], folder: str) -> None:
    import contextlib
    import os

    from sleuth.cli import files
    from sleuth.study.report.figures import CannotDraw
    from sleuth.study.report.names import file_names
    from sleuth.study.report.pictures import picture_of

    drawable = [result for result in results if result.figure is not None]
    os.makedirs(folder, exist_ok=True)
    for result, name in zip(drawable, file_names([result.name for result in drawable]), strict=True):
        with contextlib.suppress(CannotDraw):
            files.write(os.path.join(folder, f"{name}.svg"), picture_of(result), "the figure")


def _material(args: Namespace) -> Material:
    from sleuth.cli import streams
    from sleuth.study import engine, published
    from sleuth.study.corpus import NotACorpus, open_corpus
    from sleuth.study.label.store import NotLabels, read_labels
    from sleuth.study.material import gather
    from sleuth.study.schemes import settle

    _check_names(args.names)
    try:
        corpus = open_corpus(args.corpus)
        if corpus.manifest.get("posts") == 0:
            raise Refusal(f"{args.corpus} holds no posts")
        study = published.load_study(args.study) if args.study else None
        labels = read_labels(args.labels) if args.labels else None
        material = gather(engine.connect(args.engine), corpus, settle(labels) if labels is not None else None, study)
    except (NotACorpus, NotLabels, published.NoStudy, engine.NoEngine) as error:
        raise Refusal(str(error)) from None
    if labels is not None and labels.torn:
        streams.complain(f"{args.labels} has unfinished lines, {labels.torn:,} of them; they are left out")
    if material.strangers:
        are = "is" if material.strangers == 1 else "are"
        streams.complain(f"{material.strangers:,} of the labels {are} of no post in {args.corpus}")
    return material


def _check_names(names: list[str]) -> None:
    """Before the work, not after it."""
    from sleuth.study.analyses import NoAnalysis, load_analysis

    try:
        for name in names:
            load_analysis(name.partition(":")[0])
    except NoAnalysis as error:
        raise Refusal(str(error)) from None


def _run(material: Material, names: list[str]) -> tuple[list[Result], list[Skipped]]:
    from sleuth.cli.progress import Progress
    from sleuth.study.analyses import Skipped, names_for, run

    wanted = names or names_for(material.study)
    results: list[Result] = []
    skipped: list[Skipped] = []
    with Progress("analyses") as progress:
        for done, name in enumerate(wanted):
            progress(done, len(wanted))
            for outcome in run(material, [name]):
                skipped.append(outcome) if isinstance(outcome, Skipped) else results.append(outcome)
    return results, skipped
