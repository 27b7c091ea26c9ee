"""The models: the paper's formula by hand, one interface for all, and files that give back what was trained."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_posts import dealt, made_up

from sleuth.study.classify import choose
from sleuth.study.classify.choose import LOGISTIC, SVMS, Candidate, TooFew, fit_best, sharpness
from sleuth.study.classify.evaluate import Classifier, cross_validate
from sleuth.study.classify.keywords import KeywordModel
from sleuth.study.classify.linear import LinearModel, tf_idf
from sleuth.study.classify.minilm import MiniLMModel, views
from sleuth.study.classify.model_file import NotAModel, Trained, load, save
from sleuth.study.classify.models import picked_for
from sleuth.study.classify.together import BothModel
from sleuth.study.label.codebook import load_codebook


class Meanings:
    """Stands for MiniLM: numbers that depend on the words alone, and rows of unit length."""

    def __call__(self, texts: Sequence[str]) -> Any:
        rows = np.full((len(texts), 64), 0.01, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                row[sum(map(ord, word)) % 64] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


MODELS: dict[str, Any] = {
    "keywords": KeywordModel,
    "linear": LinearModel,
    "minilm": lambda: MiniLMModel(Meanings()),
    "both": lambda: BothModel(Meanings()),
}


def test_the_keyword_score_is_the_formula_of_the_paper() -> None:
    texts = ["nan nan loss", "loss gpu", "gpu slow slow slow"]
    model = KeywordModel(alpha=0.5, picked={"anomaly": ["nan", "never"], "speed": ["gpu"]})
    model.fit(texts, ["anomaly", "anomaly", "speed"])
    assert model.theta_["anomaly"] == {"nan": 2 / 5, "loss": 2 / 5, "gpu": 1 / 5}
    scores = model.scores(["nan loss gpu gpu unknown"])[0]
    anomaly = (2 / 5 + 0.5) * 1 + 2 / 5 * 1 + 1 / 5 * 2
    speed = (1 / 4 + 0.5) * 2
    assert scores == pytest.approx([anomaly, speed])
    assert model.predict(["nan loss gpu gpu unknown"]) == ["anomaly" if anomaly > speed else "speed"]


def test_a_picked_word_counts_only_among_the_most_frequent_of_its_category() -> None:
    frequent = " ".join(f"word{chr(97 + i // 26)}{chr(97 + i % 26)} " * 2 for i in range(200))
    model = KeywordModel(0.1, picked={"a": ["rare", "wordaa"]}).fit([frequent + " rare", "other"], ["a", "b"])
    assert model.picked_["a"] == {"wordaa"}


def test_by_rule_a_word_is_picked_where_it_is_twice_as_common_as_anywhere_else() -> None:
    model = KeywordModel(0.1).fit(["nan nan loss", "loss gpu", "gpu slow"], ["a", "b", "c"])
    assert model.picked_ == {"a": {"nan"}, "b": set(), "c": {"slow"}}


def test_alpha_is_searched_in_steps_of_a_hundredth_and_never_on_the_text_to_be_guessed() -> None:
    texts, labels = made_up(dealt(crash=30, install=30, slow=30))
    found = KeywordModel().fit(texts, labels).alpha_
    assert round(found * 100) == pytest.approx(found * 100)
    assert 0 <= found <= 1


def test_words_were_picked_for_labels_that_the_codebook_has() -> None:
    picked = picked_for("kinds")
    assert picked is not None
    names = {label.name for label in load_codebook("kinds").labels}
    assert set(picked) == names - {"other"}
    assert picked_for("no-such-codebook") is None
    assert picked_for(None) is None


@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns_and_gives_probabilities(name: str) -> None:
    texts, labels = made_up(dealt(crash=40, install=40, slow=40), own=3)
    fresh, truth = made_up(dealt(7, crash=20, install=20, slow=20), seed=9, own=3)
    model: Classifier = MODELS[name]().fit(texts, labels)
    found = model.predict_proba(fresh)
    assert list(model.classes_) == ["crash", "install", "slow"]
    assert found.shape == (60, 3)
    assert found.sum(axis=1) == pytest.approx(np.ones(60))
    assert list(model.predict(fresh)) == list(model.classes_[found.argmax(axis=1)])
    assert np.mean(model.predict(fresh) == np.array(truth)) > 0.8


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_two_labels_and_few_posts_works_too(name: str) -> None:
    texts, labels = made_up(["crash", "slow", "crash", "slow", "crash"])
    model: Classifier = MODELS[name]().fit(texts, labels)
    assert model.predict_proba(["", "ValueError shapes incompatible"]).shape == (2, 2)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_read_back_from_its_file_guesses_the_same(name: str, tmp_path: Path) -> None:
    texts, labels = made_up(dealt(crash=20, install=20, slow=20))
    model = MODELS[name]().fit(texts, labels)
    held = cross_validate(MODELS[name], texts, labels, folds=2)
    path = tmp_path / "model.npz"
    save(path, Trained(name, model, held, ("k",) * 60, ("s",) * 60, {"codebook": "kinds"}))
    back = load(path, Meanings())  # type: ignore[arg-type]
    fresh = [*made_up(dealt(crash=5, install=5, slow=5), seed=3)[0], ""]
    assert back.model.predict_proba(fresh) == pytest.approx(model.predict_proba(fresh), abs=1e-5)
    assert back.name == name
    assert back.about == {"codebook": "kinds"}
    assert back.keys == ("k",) * 60
    assert (back.held_out.guesses == held.guesses).all()
    assert back.held_out.classes == held.classes
    assert not any(text.encode() in path.read_bytes() for text in texts)


def test_a_file_that_would_run_code_is_refused_unread(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "ran",)

    (tmp_path / "evil.npz").write_bytes(pickle.dumps(Evil()))
    np.savez(tmp_path / "arrays.npz", about=np.array([Evil()], dtype=object))
    for name in ("evil.npz", "arrays.npz", "missing.npz"):
        with pytest.raises(NotAModel):
            load(tmp_path / name)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("candidate", [SVMS[1], LOGISTIC[0]])
def test_turning_the_features_changes_the_work_and_not_the_model(
    candidate: Candidate, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, labels = made_up(dealt(crash=20, install=20, slow=20), own=6)
    features = tf_idf(60).fit_transform(texts)
    assert features.shape[0] ** 2 < features.nnz
    turned = fit_best(features, np.array(labels), [candidate])
    monkeypatch.setattr(choose, "_turned", lambda features: (features, None))
    straight = fit_best(features, np.array(labels), [candidate])
    assert turned.decide(features) == pytest.approx(straight.decide(features), abs=0.02)


def test_sharpness_makes_scores_as_sure_as_they_are_right() -> None:
    random = np.random.default_rng(0)
    truth = random.integers(3, size=4000)
    logits = random.normal(size=(4000, 3))
    chance = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = np.array([random.choice(3, p=row) for row in chance])
    assert sharpness(5 * logits, truth) == pytest.approx(0.2, rel=0.1)


def test_one_label_alone_is_nothing_to_learn() -> None:
    with pytest.raises(TooFew, match="at least two labels"):
        LinearModel().fit(["a", "b"], ["x", "x"])


def test_a_title_is_read_once_and_a_long_post_in_three_views() -> None:
    assert views("How to pad? In Keras.") == ("How to pad? In Keras.",) * 3
    beginning, first, end = views("Loss is NaN. " + "word " * 1000 + "the end")
    assert first == "Loss is NaN"
    assert beginning.startswith("Loss is NaN. word")
    assert end.endswith("the end")
