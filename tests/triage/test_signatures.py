"""The signatures as data: each is whole, points to what exists, has been seen to match; healthy logs match none."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import loader_errors
import pytest
import python_errors
import torch_errors
from pattern_samples import samples

from sleuth import handbook
from sleuth.known_errors.matching import matches
from sleuth.known_errors.reading import read
from sleuth.known_errors.signatures import Signature, all_signatures, saying
from sleuth.triage import KINDS, ask

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
HEALTHY = tomllib.loads((HERE / "healthy_logs.toml").read_text(encoding="utf-8"))
SIGNATURES = all_signatures()
OTHER_TESTS = [
    *(HERE.parent / "frameworks").glob("test_ask_messages_*.py"),
    HERE / "test_process_messages.py",
    HERE / "test_onnx_messages.py",
]
# The words are those of the libraries; no report of them could be found to cite, and nothing here can raise them.
UNSEEN = set((HERE / "unseen_signatures.txt").read_text(encoding="utf-8").split())


def made_to_happen() -> set[str]:
    tables = (torch_errors.RAISED, loader_errors.RAISED, python_errors.RAISED)
    names = {name for table in tables for name, programs in table.items() if programs}
    for path in OTHER_TESTS:
        source = path.read_text(encoding="utf-8")
        names |= set(re.findall(r'^    "([\w-]+)": (?:lambda|\[|\w+,$)', source, re.MULTILINE))
    return names


def recorded() -> set[str]:
    rows = tomllib.loads((HERE / "recorded.toml").read_text(encoding="utf-8"))["message"]
    return {row["signature"] for row in rows}


def test_there_are_many_and_no_two_share_a_name() -> None:
    names = [signature.name for signature in SIGNATURES]
    assert len(names) == len(set(names))
    assert len(names) > 300


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.name)
def test_a_signature_is_whole_and_points_to_what_exists(signature: Signature) -> None:
    assert signature.kind in KINDS
    assert signature.certainty in ("certain", "likely", "hint")
    assert {signature.diagnosis, *signature.also} - {None} <= set(handbook.names())
    assert signature.diagnosis or not signature.also
    assert signature.says
    assert all(words == words.lower() == " ".join(words.split(" ")) for words in signature.says)
    used = set(re.findall(r"\{(\w+)\}", signature.why))
    assert used <= set(signature.compiled.groupindex)
    for step in signature.next:
        assert step in ("check", "dry", "run") if isinstance(step, str) else set(step) == {"run", "why"}


def test_no_pattern_has_an_optional_space_which_would_not_be_optional() -> None:
    assert [signature.name for signature in SIGNATURES if re.search(r" [?*]", signature.pattern)] == []


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.name)
def test_whatever_a_pattern_matches_says_one_of_its_words(signature: Signature) -> None:
    """A pattern is not even tried on a text without them: an alternative that says none of them would match nothing."""
    unheard = [text for text in samples(signature.compiled) if not _says(signature, text)]
    assert unheard == []


def _says(signature: Signature, text: str) -> bool:
    squeezed = re.sub(r"\s+", " ", text).lower()
    return any(words in squeezed for words in signature.says)


def test_every_signature_of_an_error_has_been_seen_to_match() -> None:
    errors = {signature.name for signature in SIGNATURES if not signature.symptom}
    seen = made_to_happen() | recorded()
    assert errors - seen - UNSEEN == set()
    assert errors >= UNSEEN
    assert not UNSEEN & seen
    assert len(made_to_happen() & errors) > 220


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_log_matches_nothing(name: str) -> None:
    assert [match.signature.name for match in matches(read(HEALTHY[name]))] == []


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_log_gets_no_diagnosis(name: str) -> None:
    assert ask(HEALTHY[name]).diagnoses == ()


def test_only_signatures_whose_words_stand_in_the_text_are_read() -> None:
    names = {signature.name for signature in saying("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)")}
    assert names == {"matmul-shapes"}


@pytest.mark.parametrize("sample", ["a " * 20_000, "(" * 20_000, "loss: " * 5_000, "Error: " * 5_000, "1x" * 20_000])
def test_no_pattern_loses_itself_in_a_long_text(sample: str) -> None:
    """A pattern that backtracks without end would not come back from this."""
    for signature in SIGNATURES:
        signature.compiled.search(sample[:4000])
