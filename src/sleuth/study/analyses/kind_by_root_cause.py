"""What lies behind each kind of problem."""

from __future__ import annotations

from sleuth.study.crossing import crossed
from sleuth.study.material import Material
from sleuth.study.result import Result

TITLE = "Kind of problem by root cause"
NEEDS = ("kind", "root-cause")
STUDIES = ("zhang",)
KEYS = 2


def analyse(material: Material) -> Result:
    return crossed(material, "kind", "root-cause", "kind_by_root_cause", TITLE)
