"""The wording and the look of what a person reads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from sleuth.findings import Edit, Evidence, Finding, Fix, Link, Place, Report
from sleuth.report import render

ANSI = re.compile(r"\x1b\[[0-9;]*m")
WHOLE = """\
-- Certain -------------------------------------------------------------------

error[log-of-zero]: log of a value that reached 0
  --> train.py:11:13, at step 412

   9 |     probs = net(x)
  10 |     p = probs[torch.arange(len(y)), y]
  11 |     loss = -torch.log(p).mean()
     |             ^^^^^^^^^^^^
  12 |     loss.backward()

  Evidence
    input minimum  0
    exact zeros    3
    shape          1024, 10

  How it came about
    |- model.py:6:16  torch.softmax(self.head(x), dim=1)
    |  softmax gave 3 exact zeros
    `- train.py:11:13  torch.log(p)
       its log is -inf, and so is the loss

  Try: keep the probability away from 0 (verified)
    --- train.py
    +++ train.py
    @@ -9,5 +9,5 @@
         probs = net(x)
         p = probs[torch.arange(len(y)), y]
    -    loss = -torch.log(p).mean()
    +    loss = -torch.log(p.clamp_min(1e-8)).mean()
         loss.backward()
         return loss
  Try: give the logits to F.cross_entropy (not tried)

-- Hints ---------------------------------------------------------------------

note[small-batch]: each batch holds one sample
  --> train.py:9

   8 | def step(x, y):
   9 |     probs = net(x)
     |     ^^^^^^^^^^^^^^
  10 |     p = probs[torch.arange(len(y)), y]

  Evidence
    batch size  1

1 error, 0 warnings, 1 note
More: sleuth explain log-of-zero; the other names in brackets have pages, too"""


def show(*findings: Finding, root: Path, width: int = 78, colour: bool = False) -> str:
    return render(Report("run", "train.py", findings), "terminal", colour=colour, width=width, root=root)


def test_a_certainty_and_a_hint_read_exactly_like_this(report: Report, project: Path) -> None:
    assert render(report, "terminal", width=78, root=project) == WHOLE


def test_nothing_found_is_one_line(project: Path) -> None:
    assert show(root=project) == "sleuth: nothing found"


def test_without_colour_there_is_no_escape_sequence_and_only_ascii_drawing(report: Report, project: Path) -> None:
    text = render(report, "terminal", root=project)
    assert "\x1b" not in text
    assert text.isascii()


def test_no_environment_variable_overrules_the_choice_of_colour(
    report: Report, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" in render(report, "terminal", colour=True, root=project)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in render(report, "terminal", root=project)


def test_colour_changes_the_drawing_but_no_word(report: Report, project: Path) -> None:
    drawn = str.maketrans({"─": "-", "│": "|", "▸": ">", "├": "|", "╰": "`"})
    coloured = ANSI.sub("", render(report, "terminal", colour=True, width=78, root=project))
    assert coloured.translate(drawn) == WHOLE


def test_the_width_is_100_where_there_is_no_terminal(
    report: Report, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: (_ for _ in ()).throw(OSError()))
    assert len(render(report, "terminal", root=project).split("\n")[0]) == 100


def test_groups_come_surest_first_whatever_the_order_of_the_findings(make: Any, project: Path) -> None:
    text = show(make(certainty="hint"), make(certainty="likely"), make(), root=project)
    assert re.findall(r"^-- (\w+) -", text, re.MULTILINE) == ["Certain", "Likely", "Hints"]
    assert text.endswith("3 errors, 0 warnings, 0 notes\nMore: sleuth explain log-of-zero")


def test_markup_in_the_users_text_is_shown_as_it_is(make: Any, project: Path) -> None:
    (project / "train.py").write_text("x = d['[red]'] # [/] [link=http://e.x]\n", encoding="utf-8")
    finding = make(
        title="[bold]title[/bold] :smile:",
        place=Place("train.py", 1, 5, 1, "d['[red]']"),
        evidence=(Evidence("[b]name[/b]", "[/nothing]"),),
        chain=(Link("[blink]what[/]"),),
        fixes=(Fix("[on red]fix[/]"),),
    )
    for colour in (False, True):
        text = ANSI.sub("", show(finding, root=project, colour=colour))
        for words in ("[bold]title[/bold] :smile:", "[b]name[/b]  [/nothing]", "[blink]what[/]", "Try: [on red]fix[/]"):
            assert words in text
        assert "x = d['[red]'] # [/] [link=http://e.x]" in text


def test_escape_sequences_and_hidden_letters_are_spelled_out(make: Any, project: Path) -> None:
    evil = "a\x1b[2Jb\x07c\x9bd\u202ee\rf"
    finding = make(
        title=evil,
        place=Place(f"{evil}.py", 1, 1, 1, evil),
        evidence=(Evidence(evil, (evil,)),),
        chain=(Link(evil, Place(evil, 2)),),
        fixes=(Fix(evil, (Edit(evil, 1, 1, 1, 1, evil),)),),
    )
    for colour in (False, True):
        text = ANSI.sub("", show(finding, root=project, colour=colour, width=120))
        assert text.replace("\n", "").isprintable()
        assert r"a\x1b[2Jb\x07c\x9bd\u202ee" in text


def test_source_with_tabs_and_wide_letters_is_underlined_in_the_right_columns(make: Any, project: Path) -> None:
    (project / "train.py").write_text('if ok:\n\ts = "漢字"; y = log(漢)\n', encoding="utf-8")
    text = show(make(place=Place("train.py", 2, 15, 2, "log(漢)")), root=project)
    line, carets = text.split("\n")[6:8]
    before = line[: line.index("log(")]
    assert carets.index("^") == cell_len(before)
    assert carets.count("^") == cell_len("log(漢)")


def test_an_expression_over_several_lines_has_a_thicker_bar(make: Any, project: Path) -> None:
    (project / "train.py").write_text("x = (\n    a\n    + b\n)\ny = 1\n", encoding="utf-8")
    text = show(make(place=Place("train.py", 1, 5, 4, "(\n    a\n    + b\n)")), root=project)
    assert "  1 > x = (\n    >     ^\n  2 >     a\n  3 >     + b\n  4 > )\n  5 | y = 1\n" in text


def test_a_very_long_expression_is_shown_by_its_ends(make: Any, project: Path) -> None:
    source = "x = [\n" + "    1,\n" * 20 + "]\n"
    (project / "train.py").write_text(source, encoding="utf-8")
    text = show(make(place=Place("train.py", 1, 5, 22, source[4:].strip())), root=project)
    assert "   4 >     1,\n  .. >\n  21 >     1,\n  22 > ]\n" in text


def test_a_long_line_is_cut_around_the_expression(make: Any, project: Path) -> None:
    (project / "train.py").write_text("x = " + "a + " * 60 + "log(0) + " + "b + " * 60 + "b\n", encoding="utf-8")
    text = show(make(place=Place("train.py", 1, 245, 1, "log(0)")), root=project, width=60)
    line, carets = text.split("\n")[5:7]
    assert line.startswith("  1 | ...")
    assert line.endswith("...")
    assert line[carets.index("^") :][: carets.count("^")] == "log(0)"


def test_where_the_file_is_gone_or_has_changed_the_code_stands_alone(make: Any, project: Path) -> None:
    for place in (Place("gone.py", 7, 3, 7, "log(0)"), Place("train.py", 7, 3, 7, "log(0)")):
        assert "\n\n  7 | log(0)\n\n1 error," in show(make(place=place), root=project)


def test_a_wrong_column_is_put_right_by_the_code(make: Any, project: Path) -> None:
    text = show(make(place=Place("train.py", 11, 40, 11, "torch.log(p)")), root=project)
    assert "  11 |     loss = -torch.log(p).mean()\n     |             ^^^^^^^^^^^^\n" in text


def test_in_the_story_code_gives_way_to_a_long_path(make: Any, project: Path) -> None:
    path = "packages/" * 9 + "model.py"
    chain = (
        Link("first", Place("model.py", 6, code="f(" + "x, " * 40 + ")")),
        Link("then", Place(path, 6, code="f(x)")),
    )
    text = show(make(chain=chain), root=project)
    assert re.search(r"\|- model.py:6  f\(x, x, .*\.\.\.\n", text)
    assert f"{path}:6\n".replace("\n", "") in text.replace("\n       ", "")


def test_a_finding_without_a_place_still_says_when(make: Any, project: Path) -> None:
    text = show(make(step=12345, rank=3), root=project)
    assert "log of a value that reached 0\n  --> at step 12,345 on rank 3\n\n1 error," in text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.1 + 0.2, "0.3"),
        (1234567, "1,234,567"),
        (98765.4321, "98,765.4"),
        (1e-12, "1e-12"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (True, "True"),
        (None, "None"),
        ((), "()"),
        ((4096, 0.5), "4096, 0.5"),
        (((1, 2), (3,)), "(1, 2), (3)"),
        ("first\nsecond", "first\n            second"),
    ],
)
def test_evidence_is_formatted_for_reading(make: Any, project: Path, value: Any, words: str) -> None:
    assert f"Evidence\n    fact    {words}\n    longer  x\n" in show(
        make(evidence=(Evidence("fact", value), Evidence("longer", "x"))), root=project
    )


def test_the_name_of_a_fact_is_never_cut(make: Any, project: Path) -> None:
    short, long = "zeros", "largest difference of the gradients between two ranks"
    text = show(make(evidence=(Evidence(short, 3), Evidence(long, 0.25))), root=project)
    assert f"    zeros  3\n    {long}  0.25\n" in text
    narrow = show(make(evidence=(Evidence(short, 3), Evidence(long, 0.25))), root=project, width=50)
    assert "    zeros  3\n    largest difference of the gradients between\n      two ranks\n           0.25\n" in narrow


def test_a_place_where_several_things_happen_is_named_once(make: Any, project: Path) -> None:
    here, there = Place("model.py", 6, 16, 6, "f(x)"), Place("train.py", 11, 13, 11, "g(x)")
    chain = (Link("relu gave 0", here), Link("log gave -inf", here), Link("and nan", there), Link("so be it", there))
    assert (
        show(make(chain=chain), root=project)
        .split("How it came about\n")[1]
        .startswith(
            "    |- model.py:6:16  f(x)\n    |  relu gave 0\n    |  log gave -inf\n"
            "    `- train.py:11:13  g(x)\n       and nan\n       so be it\n"
        )
    )


@pytest.mark.parametrize("width", range(40, 100))
def test_a_formula_is_not_broken_across_lines(make: Any, project: Path, width: int) -> None:
    formulas = ("x * log(x)", "F.softmax(x, dim=1)", "`a if b else c`", "1 / (n - 1)")
    title = f"write {formulas[0]} by hand, or {formulas[1]}, or {formulas[2]}, but not {formulas[3]} (see there)"
    text = show(make(fixes=(Fix(title),)), root=project, width=width)
    assert [formula for formula in formulas if formula not in text] == []
    assert " ".join(text.split()).count(title) == 1


def test_an_edit_that_does_not_fit_its_file_is_told_in_words(make: Any, project: Path) -> None:
    fix = Fix("fix it", (Edit("gone.py", 3, 1, 3, 4, "new"), Edit("gone.py", 9, 1, 10, 1, "")))
    assert (
        "  Try: fix it (not tried)\n    at gone.py:3:1 write\n    +new\n"
        "    at gone.py:9:1 remove everything up to 10:1\n" in show(make(fixes=(fix,)), root=project)
    )


def test_overlapping_edits_are_told_in_words(make: Any, project: Path) -> None:
    fix = Fix("fix it", (Edit("train.py", 1, 1, 1, 5, "a"), Edit("train.py", 1, 3, 1, 6, "b")))
    assert "    at train.py:1:1 write\n    +a\n" in show(make(fixes=(fix,)), root=project)


LETTERS = st.text(max_size=120)
PLACES = st.builds(
    Place,
    path=st.sampled_from(["train.py", "gone.py", "no\x1bne.txt", "long/" * 30 + "x.py"]),
    line=st.integers(1, 20),
    column=st.none() | st.integers(1, 300),
    end_line=st.none() | st.integers(1, 30),
    code=st.none() | LETTERS,
)
FINDINGS = st.builds(
    Finding,
    diagnosis=LETTERS,
    title=LETTERS,
    place=st.none() | PLACES,
    step=st.none() | st.integers(0),
    rank=st.none(),
    evidence=st.builds(lambda name, value: (Evidence(name, value),), LETTERS, LETTERS | st.floats() | st.integers()),
    chain=st.builds(lambda what, place: (Link(what, place), Link(what)), LETTERS, PLACES),
    fixes=st.builds(lambda text: (Fix(text, (Edit("train.py", 1, 1, 1, 1, text),)),), LETTERS),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(finding=FINDINGS, source=st.text(), width=st.integers(40, 130), colour=st.booleans())
def test_whatever_the_program_contains_every_line_is_safe_and_fits(
    project: Path, finding: Finding, source: str, width: int, colour: bool
) -> None:
    (project / "train.py").write_text(source, encoding="utf-8")
    text = ANSI.sub("", show(finding, root=project, width=width, colour=colour))
    joiners = dict.fromkeys(map(ord, "\n\u200c\u200d"))
    assert text.translate(joiners).isprintable()
    assert max(map(cell_len, text.split("\n"))) <= width
