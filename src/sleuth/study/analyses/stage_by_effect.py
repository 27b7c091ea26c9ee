"""What goes wrong at each stage."""

from __future__ import annotations

from sleuth.study.crossing import crossed
from sleuth.study.material import Material
from sleuth.study.result import Result

TITLE = "Stage by effect"
NEEDS = ("stage", "effect")
STUDIES = ("islam",)
KEYS = 2


def analyse(material: Material) -> Result:
    return crossed(material, "stage", "effect", "stage_by_effect", TITLE)
