"""At which stage each type of bug shows."""

from __future__ import annotations

from sleuth.study.crossing import crossed
from sleuth.study.material import Material
from sleuth.study.result import Result

TITLE = "Bug type by stage"
NEEDS = ("bug-type", "stage")
STUDIES = ("islam",)
KEYS = 2


def analyse(material: Material) -> Result:
    return crossed(material, "bug-type", "stage", "type_by_stage", TITLE)
