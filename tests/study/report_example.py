"""A report with every kind of drawing, table and verdict in it."""

from __future__ import annotations

from sleuth.study.report.content import Fact, NotRun, Passage, Report, Step, Threat
from sleuth.study.result import Comparison, Figure, Result

PHASES = ("data-processing", "model-setting", "model-training", "visualization")
CAUSES = ("API misuse", "unaligned tensor", "incorrect model parameter or structure", "API change")
TYPES = ("API bug", "coding bug", "data bug", "structural bug: control & sequence", "non-model structural bug")
PAPER = "Doe et al., 2020"


def distribution() -> Result:
    counts = dict(zip(PHASES, (1125, 643, 306, 111), strict=True))
    whole = sum(counts.values())
    return Result(
        "distribution",
        "How many posts each phase has",
        ("phase", "posts", "percent"),
        tuple((phase, posts, 100 * posts / whole) for phase, posts in counts.items()),
        Figure("bars", "phase", "posts"),
        (
            Comparison("data-processing: posts", 1125, 1125, PAPER),
            Comparison("model-setting: posts", 643, 639, PAPER, note="one cell of the paper's table"),
            Comparison("model-training: posts", None, 306, PAPER),
            Comparison("visualization: percent", 5.08, 5.1, PAPER, within=0.05),
        ),
        "Each post counts once.",
    )


def evolution() -> Result:
    rows = tuple(
        (2015 + year, phase, 10 + 37 * year % 23 + 9 * at) for year in range(6) for at, phase in enumerate(PHASES)
    )
    return Result(
        "evolution", "Posts by year", ("year", "phase", "percent"), rows, Figure("lines", "year", "percent", "phase")
    )


def by_framework() -> Result:
    rows = tuple(
        (framework, phase, (at + 2) * (17 + 40 * which))
        for which, framework in enumerate(("theano", "pytorch", "tensorflow"))
        for at, phase in enumerate(PHASES)
    )
    figure = Figure("stacked-bars", "framework", "posts", "phase")
    return Result("frameworks", "Phases within each framework", ("framework", "phase", "posts"), rows, figure)


def grouped() -> Result:
    rows = tuple(
        (kind, where, 3.5 * at + 8 * which)
        for at, kind in enumerate(TYPES)
        for which, where in enumerate(("SO", "GitHub"))
    )
    figure = Figure("bars", "type", "percent", "where")
    return Result("where", "Stack Overflow beside GitHub", ("type", "where", "percent"), rows, figure)


def crossed() -> Result:
    rows = tuple((cause, kind, (7 * a + 5 * b) % 19) for a, cause in enumerate(CAUSES) for b, kind in enumerate(TYPES))
    figure = Figure("heatmap", "type", "root cause", value="bugs")
    return Result("causes", "Root cause × type", ("root cause", "type", "bugs"), rows, figure)


def related() -> Result:
    rows = (
        ("data-processing", 475, 0.08),
        ("model-setting", 614.5, 0.15),
        ("model-training", 529, 0.11),
        ("visualization", 1047, 0.14),
    )
    figure = Figure("scatter", "median views", "median days", value="phase")
    return Result(
        "popular-difficult", "Popularity and difficulty", ("phase", "median views", "median days"), rows, figure
    )


def example() -> Report:
    return Report(
        title="Implementation issues when using deep-learning frameworks",
        subtitle="2,401 posts of stackoverflow, 2015-11-10 to 2021-03-02",
        made="Made by Sleuth 0.1.0 on 2026-01-02 at 03:04 UTC",
        headline=(
            Fact("posts", "2,401", "2015-11-10 to 2021-03-02"),
            Fact("published figures", "2 of 4", "as printed; 1 differs"),
            Fact("analyses", "6", "1 could not be run"),
        ),
        funnel=(
            Step("tagged with a framework", 90697, 90697),
            Step("asks how to", 14203, 14203),
            Step("has an accepted answer", 4300, 4327),
            Step("labelled by hand", 2401, 2401),
        ),
        method=(
            Passage("Where the posts come from", "From one dump.", (Fact("file", "Posts.xml"), Fact("size", "1.2 GB"))),
            Passage("The command", verbatim="sleuth study report corpus --output report.html"),
            Passage(
                "Labels",
                table=Result("labels", "Labels", ("label", "definition"), (("a", "the first <b>of</b> them"),)),
            ),
        ),
        results=(distribution(), evolution(), by_framework(), grouped(), crossed(), related()),
        threats=(
            Threat("One rater only", "Nobody has checked the labels.", "grave"),
            Threat("3 rows were set aside", "They could not be read."),
        ),
        not_run=(NotRun("agreement", "Agreement of raters", "the labels are of one rater"),),
    )
