"""Which root causes lead to which types of bug."""

from __future__ import annotations

from sleuth.study.crossing import crossed
from sleuth.study.material import Material
from sleuth.study.result import Result

TITLE = "Root cause by bug type"
NEEDS = ("root-cause", "bug-type")
STUDIES = ("islam",)
KEYS = 2


def analyse(material: Material) -> Result:
    return crossed(material, "root-cause", "bug-type", "root_cause_by_type", TITLE)
