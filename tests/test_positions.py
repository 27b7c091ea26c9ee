"""Which expression an instruction computes, also where Python gives no columns."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from sleuth import positions, program

ROOT = Path(__file__).parents[1]
PROGRAMS = [ROOT / "zoo" / "demo" / "train.py", *sorted((ROOT / "zoo").glob("log*/bug.py"))]
SOURCE = """\
import inspect


def log(x, *rest):
    caller = inspect.currentframe().f_back
    seen.append((caller.f_code, caller.f_lasti))
    return x


seen = []
y = 2.0 * log(1.0) + log(2.0, -0.5) if log(True) else None
z = {"a": log(1), "b": [log(2)]}
w = [log(i) for i in range(1)], log(9)
while log(None):
    pass
"""


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def instruction_at(code: CodeType, last: int) -> int:
    """Newer Pythons stand in the cache behind an instruction while they call."""
    return max(one.offset for one in dis.get_instructions(code) if one.offset <= last)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
@pytest.mark.skipif(sys.version_info < (3, 11), reason="this Python gives no columns to compare with")
def test_counting_finds_what_python_tells(path: Path) -> None:
    known = 0
    for code in codes(compile(path.read_text(encoding="utf-8"), str(path), "exec")):
        for instruction in positions._instructions(code):
            counted, told = positions.counted_span(code, instruction), positions.span_of(code, instruction)
            # The end of a `with` is told as the whole statement.
            if counted is not None and told is not None and told.line == told.end_line:
                assert counted == told
                known += 1
    assert known > 20


def test_without_columns_a_place_is_still_one_expression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "program.py"
    path.write_text(SOURCE, encoding="utf-8")
    names: dict[str, list[tuple[CodeType, int]]] = {}
    exec(compile(SOURCE, str(path), "exec"), names)
    monkeypatch.setattr(program, "span_of", positions.counted_span)
    places = [program.place_of(code, instruction_at(code, last)) for code, last in names["seen"]]
    lines = SOURCE.split("\n")
    assert [place.code for place in places[:5]] == ["log(True)", "log(1.0)", "log(2.0, -0.5)", "log(1)", "log(2)"]
    assert places[-2].code == "log(9)"
    assert places[-1].code == "log(None)"
    for place in places:
        assert place.column is not None
        assert place.code is not None
        assert lines[place.line - 1][place.column - 1 :].startswith(place.code)
