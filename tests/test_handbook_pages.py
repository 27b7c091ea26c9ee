"""Every page of the handbook keeps its shape, and the code it shows really breaks and really is mended."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from sleuth import findings, handbook
from sleuth.live import checks, crashes, rules
from sleuth.source.engine import Unit, examine
from sleuth.source.project import Project

SECTIONS = [
    "What you see",
    "Why",
    "How Sleuth knows",
    "Try this first",
    "How to fix",
    "When it is not a bug",
    "Seen in",
    "See also",
]
ENGINES = {"source", "dry", "live", "graph", "data", "compare", "profile", "environment"}
NAMES = handbook.names()
# What live only explains once the program has crashed is shown by code that crashes, or by source alone.
LOOKED_FOR = {*(name for name, _ in checks.in_order()), *(name for _, name, _ in rules.in_order())}
AS_A_CRASH = crashes.diagnoses() - LOOKED_FOR - {"unexplained-non-finite"}
LIVE = [name for name in NAMES if "live" in handbook.page(name).engines and name not in AS_A_CRASH]
# Where the program goes wrong by what is a diagnosis of its own.
ALSO_SHOWN = {
    "backward-twice": {"graph-grows-every-step"},
    "backward-without-step": {"missing-call-parentheses"},
}
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FRONT_MATTER = re.compile(r"\A\+\+\+\n.*?^\+\+\+\n", re.MULTILINE | re.DOTALL)
# A page is read in one go: shorter ones say too little, longer ones belong in two pages.
SHORTEST, LONGEST = 40, 95


def source(name: str) -> str:
    return (handbook.PAGES / f"{name}.md").read_text(encoding="utf-8")


def blocks(name: str) -> dict[str, str]:
    return dict(BLOCK.findall(handbook.page(name).sections["How to fix"]))


# A page on Keras shows a program for that: here it is only read, tests/frameworks runs such programs.
RUN_HERE = [name for name in LIVE if "import keras" not in blocks(name)["python before"]]
ONLY_READ = [name for name in NAMES if "source" in handbook.page(name).engines and name not in RUN_HERE]


@pytest.fixture
def fresh_torch() -> Iterator[types.ModuleType]:
    torch = pytest.importorskip("torch")
    dtype, deterministic = torch.get_default_dtype(), torch.are_deterministic_algorithms_enabled()
    torch.set_default_dtype(torch.float32)
    torch.manual_seed(0)
    yield torch
    torch.set_default_dtype(dtype)
    torch.use_deterministic_algorithms(deterministic)
    torch.set_grad_enabled(True)


def run(name: str, label: str) -> object:
    """Execute a block as a program of its own and return its `result`."""
    module = types.ModuleType(f"handbook_{label.split()[-1]}")
    sys.modules[module.__name__] = module
    try:
        exec(compile(blocks(name)[label], f"{name}.md [{label}]", "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return module.__dict__["result"]


def ends_well(result: object, torch: types.ModuleType) -> bool:
    """A page on numbers ends in values that should be finite; the others end in what they claim, true or false."""
    return result if isinstance(result, bool) else bool(torch.isfinite(torch.as_tensor(result)).all())


def test_the_handbook_has_pages() -> None:
    assert LIVE


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_named_in_kebab_case(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_starts_with_its_front_matter(name: str) -> None:
    assert FRONT_MATTER.match(source(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_title_is_a_short_phrase_without_a_full_stop(name: str) -> None:
    title = handbook.page(name).title
    assert 10 <= len(title) <= 80
    assert title == " ".join(title.split())
    assert title[0].islower()
    assert not title.endswith((".", "!", "?", ":"))


def test_no_two_pages_share_a_title() -> None:
    titles = [handbook.page(name).title for name in NAMES]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("name", NAMES)
def test_front_matter_uses_only_words_of_the_contract(name: str) -> None:
    page = handbook.page(name)
    assert page.kind in get_args(findings.Kind)
    assert page.root_cause in get_args(findings.RootCause)
    assert page.stage in get_args(findings.Stage)
    assert page.effect in get_args(findings.Effect)
    assert page.engines
    assert set(page.engines) <= ENGINES


@pytest.mark.parametrize("name", NAMES)
def test_references_are_given_once_each_and_not_empty(name: str) -> None:
    references = handbook.page(name).references
    assert references
    assert all(reference.strip() for reference in references)
    assert len(set(references)) == len(references)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_all_sections_in_order_and_filled(name: str) -> None:
    sections = handbook.page(name).sections
    assert list(sections) == SECTIONS
    assert all(body for body in sections.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_page_can_be_read_in_one_go(name: str) -> None:
    assert SHORTEST <= len(source(name).splitlines()) <= LONGEST


@pytest.mark.parametrize("name", NAMES)
def test_see_also_names_pages_that_exist(name: str) -> None:
    named = re.findall(r"`([^`]+)`", handbook.page(name).sections["See also"])
    assert named
    assert name not in named
    assert set(named) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_code_blocks_are_one_before_and_one_after(name: str) -> None:
    assert [label for label, _ in BLOCK.findall(handbook.page(name).text)] == ["python before", "python after"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RUN_HERE)
def test_the_before_block_ends_badly(name: str, fresh_torch: types.ModuleType) -> None:
    assert not ends_well(run(name, "python before"), fresh_torch)


@pytest.mark.parametrize("name", RUN_HERE)
def test_the_after_block_ends_well(name: str, fresh_torch: types.ModuleType) -> None:
    assert ends_well(run(name, "python after"), fresh_torch)


def read(name: str, label: str) -> list[findings.Finding]:
    """What the source engine says of a block."""
    unit = Unit(f"/nowhere/{name}.py", blocks(name)[label], f"{name}.py")
    result = examine(unit, Project(Path("/nowhere")))
    assert result.problem is None
    assert not result.broken
    return list(result.findings)


@pytest.mark.parametrize("name", ONLY_READ)
def test_the_source_of_the_before_block_shows_the_bug(name: str) -> None:
    assert name in {finding.diagnosis for finding in read(name, "python before")}


@pytest.mark.parametrize("name", NAMES)
def test_the_source_of_the_before_block_shows_nothing_else(name: str) -> None:
    named = {f.diagnosis for f in read(name, "python before") if f.severity != "note"}
    assert named <= {name} | ALSO_SHOWN.get(name, set())


@pytest.mark.parametrize("name", NAMES)
def test_the_source_of_the_after_block_is_clean(name: str) -> None:
    assert [f.diagnosis for f in read(name, "python after") if f.severity != "note" or f.diagnosis == name] == []
