"""Ready oracles for the tests of a deep-learning project: one call each, and a failure says why.

    from sleuth.testing import assert_learns_one_batch

    def test_the_model_learns():
        assert_learns_one_batch(Net(), (inputs, labels), torch.nn.functional.cross_entropy)

Every oracle works on copies: model, gradients, training flags and random generators are left as they were."""

from __future__ import annotations

from sleuth.testing.all_parameters_train import assert_all_parameters_train
from sleuth.testing.batch_independent import assert_batch_independent
from sleuth.testing.deterministic import assert_deterministic
from sleuth.testing.finite import assert_finite
from sleuth.testing.learns_one_batch import assert_learns_one_batch
from sleuth.testing.runs_on import assert_runs_on
from sleuth.testing.same_model import assert_same_model

__all__ = [
    "assert_all_parameters_train",
    "assert_batch_independent",
    "assert_deterministic",
    "assert_finite",
    "assert_learns_one_batch",
    "assert_runs_on",
    "assert_same_model",
]
