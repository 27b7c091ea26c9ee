"""At which stage each root cause strikes."""

from __future__ import annotations

from sleuth.study.crossing import crossed
from sleuth.study.material import Material
from sleuth.study.result import Result

TITLE = "Root cause by stage"
NEEDS = ("root-cause", "stage")
STUDIES = ("islam",)
KEYS = 2


def analyse(material: Material) -> Result:
    return crossed(material, "root-cause", "stage", "root_cause_by_stage", TITLE)
