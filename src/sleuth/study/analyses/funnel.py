"""From all posts to those that were studied, step by step."""

from __future__ import annotations

from sleuth.study.material import Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import percent

TITLE = "From all posts to the subjects"
NEEDS = ("funnel",)
STUDIES = ("zhang", "islam", "liu", "wang")


def analyse(material: Material) -> Result:
    # A step that people take by hand has no count of ours.
    steps = [step for step in material.funnel if step["posts"] is not None]
    first = steps[0]["posts"]
    before = [first, *(step["posts"] for step in steps)]
    rows = tuple(
        (step["step"], step["posts"], percent(step["posts"], was), percent(step["posts"], first), step.get("published"))
        for step, was in zip(steps, before, strict=False)
    )
    printed = " → ".join(f"{step['posts']:,}" for step in material.study.funnel) if material.study else ""
    return Result(
        name="funnel",
        title=TITLE,
        columns=("step", "posts", "percent of the step before", "percent of all", "published"),
        rows=rows,
        figure=Figure("bars", x="step", y="posts"),
        note=f"{material.study.source} printed {printed}" if material.study else "",
    )
