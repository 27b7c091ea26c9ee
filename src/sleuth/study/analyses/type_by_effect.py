"""What each type of bug leads to."""

from __future__ import annotations

from sleuth.study.crossing import crossed
from sleuth.study.material import Material
from sleuth.study.result import Result

TITLE = "Bug type by effect"
NEEDS = ("bug-type", "effect")
STUDIES = ("islam",)
KEYS = 2


def analyse(material: Material) -> Result:
    return crossed(material, "bug-type", "effect", "type_by_effect", TITLE)
