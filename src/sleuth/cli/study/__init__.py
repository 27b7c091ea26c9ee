"""`sleuth study`: a command of commands, one module each."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

SUMMARY = "study whole corpora of posts and issues: ingest, select, label, classify, analyse, report"
EXAMPLE = "sleuth study ingest Posts.xml --into corpus"

STEPS = (
    "ingest",
    "select",
    "sample",
    "codebook",
    "label",
    "agreement",
    "phrases",
    "classify",
    "shares",
    "analyse",
    "report",
)

_EXAMPLES = """\
examples:
  sleuth study ingest Posts.xml --into corpus        a Stack Exchange dump becomes typed Parquet
  sleuth study select corpus --preset implementation --into howto
  sleuth study sample howto --size 372 --into sample.json
  sleuth study label sample.json --codebook kinds --rater ann --into labels.jsonl
  sleuth study agreement labels.jsonl                how well the raters agree
  sleuth study analyse howto                         every table that the corpus can answer
  sleuth study report howto --output report.html

It needs pip install 'sleuth-ml[study]'. Each step has its own --help.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    for name in STEPS:
        step = _load(name)
        inner = steps.add_parser(
            name,
            help=step.SUMMARY,
            description=step.SUMMARY,
            formatter_class=parser.formatter_class,
            allow_abbrev=False,
        )
        step.add_arguments(inner)


def execute(args: Namespace) -> int:
    need("study", "duckdb", "ibis", "pyarrow")
    return int(_load(args.step).execute(args))


def need(extra: str, *modules: str) -> None:
    """Refuse, in one line that says what to install, unless all these modules are there."""
    from importlib.util import find_spec

    if any(find_spec(module) is None for module in modules):
        raise Refusal(f"this needs pip install 'sleuth-ml[{extra}]'")


def _load(name: str):  # type: ignore[no-untyped-def]
    from importlib import import_module

    return import_module(f"sleuth.cli.study.{name}")
