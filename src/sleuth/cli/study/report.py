"""`sleuth study report`: every table and figure that a corpus can answer, in one page."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from sleuth.study.report.content import Report
    from sleuth.study.report.gather import Asked

SUMMARY = "one page with every table and figure, the method, the funnel, the threats, and the papers' own numbers"

# What is written where nothing is said: a file, or a folder of tables.
_OUTPUTS = {"html": "report.html", "markdown": "report.md", "csv": "report-csv", "parquet": "report-parquet"}
_STUDIES = ("liu", "zhang", "islam", "wang")

_EXAMPLES = """\
examples:
  sleuth study report howto                                       report.html, for a browser
  sleuth study report howto --labels labels.jsonl --sample sample.json
  sleuth study report corpus --labels labels.csv --study liu      beside study L's own figures
  sleuth study report howto --format markdown --output report.md  and its figures in report-figures/
  sleuth study report howto --format csv --output tables          a folder, one file a table

The page holds everything: it opens without a network, prints, and may be sent by mail.
The status is 0, also where a figure differs from the published one: the page says so.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("corpus", metavar="CORPUS", help="a folder that `sleuth study ingest` or `select` wrote")
    parser.add_argument("--labels", metavar="FILE", help="labels.jsonl, or a CSV with key, scheme, label and rater")
    parser.add_argument("--sample", metavar="FILE", help="the sample that was labelled, for its design and weights")
    parser.add_argument(
        "--study",
        choices=_STUDIES,
        help="this paper's tables only, beside its figures (default: every table that can be made)",
    )
    parser.add_argument("--output", metavar="PATH", help="where to write (default: report.html, report.md, …)")
    parser.add_argument("--format", choices=tuple(_OUTPUTS), default="html", help="how to write it (default: html)")
    parser.add_argument("--engine", default="duckdb", metavar="E", help="duckdb (default) or spark://host:port")


def execute(args: Namespace) -> int:
    from sleuth.study.corpus import NotACorpus
    from sleuth.study.engine import NoEngine
    from sleuth.study.label.sample import NotASample
    from sleuth.study.label.store import NotLabels
    from sleuth.study.published import NoStudy
    from sleuth.study.report.tables import CannotWrite

    output = args.output or _OUTPUTS[args.format]
    try:
        _check_output(output, args.format)
        report = _gather(_asked(args))
        _write(report, output, args.format)
    except (NotACorpus, NoEngine, NotLabels, NotASample, NoStudy, CannotWrite) as error:
        raise Refusal(str(error)) from None
    return 0


def _check_output(output: str, format: str) -> None:
    """Refused before the work rather than after it."""
    from pathlib import Path

    from sleuth.cli import files
    from sleuth.study.report.tables import check_free

    if format in ("csv", "parquet"):
        check_free(Path(output))
        if not Path(output).absolute().parent.is_dir():
            raise Refusal(f"cannot write the report to {output}: No such file or directory")
    else:
        files.check_writable(output)


def _asked(args: Namespace) -> Asked:
    from sleuth.study.corpus import open_corpus
    from sleuth.study.label.sample import read_sample
    from sleuth.study.label.store import read_labels
    from sleuth.study.published import load_study
    from sleuth.study.report.gather import Asked

    return Asked(
        corpus=open_corpus(args.corpus),
        labels=read_labels(args.labels) if args.labels else None,
        labels_file=args.labels or "",
        study=load_study(args.study) if args.study else None,
        sample=read_sample(args.sample) if args.sample else None,
        engine=args.engine,
        command=_command(args),
    )


def _command(args: Namespace) -> str:
    """As it can be typed again; without where the output went."""
    import shlex

    options = [(name, getattr(args, name)) for name in ("labels", "sample", "study")]
    options += [("engine", args.engine)] if args.engine != "duckdb" else []
    words = [word for name, value in options if value for word in (f"--{name}", str(value))]
    return shlex.join(["sleuth", "study", "report", args.corpus, *words])


def _gather(asked: Asked) -> Report:
    from sleuth.cli.progress import Progress
    from sleuth.study.report.gather import gather

    with Progress("analyses") as progress:
        return gather(asked, progress)


def _write(report: Report, output: str, format: str) -> None:
    from pathlib import Path

    from sleuth.cli import files, streams
    from sleuth.study.report import tables

    if format in ("csv", "parquet"):
        names = tables.write(report, Path(output), "csv" if format == "csv" else "parquet")
        streams.show(f"{output}: {len(names):,} files\n")
    elif format == "markdown":
        _write_markdown(report, output)
    else:
        from sleuth.cli.progress import Progress
        from sleuth.study.report.page import html

        with Progress("figures") as progress:
            page = html(report, progress)
        files.write(output, page)
        _tell(report, output, page)


def _write_markdown(report: Report, output: str) -> None:
    """The figures first: no reader ever finds a text whose pictures are still missing."""
    from pathlib import Path

    from sleuth.cli import files
    from sleuth.study.report.markdown import markdown

    folder = Path(output).parent / f"{Path(output).stem}-figures"
    text, pictures = markdown(report, folder.name)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise Refusal(f"cannot write the figures to {folder}: {error.strerror}") from None
    for name, picture in pictures.items():
        files.write(str(folder / name), picture, "a figure")
    files.write(output, text)
    _tell(report, output, text)


def _tell(report: Report, output: str, text: str) -> None:
    from sleuth.amounts import in_bytes
    from sleuth.cli import streams
    from sleuth.study.report.beside import told
    from sleuth.study.report.content import tally

    counted = tally(item for _, item in report.comparisons)
    beside = f"; {told(counted)}" if counted.total else ""
    size = in_bytes(len(text.encode()))
    streams.show(f"{output}: {len(report.results):,} tables and figures, {size}{beside}\n")
