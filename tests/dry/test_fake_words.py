"""A call that torch refuses is refused with fake numbers in the same words, and no other call is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from faking import fake_stage  # noqa: E402
from wrong_calls import CALLS  # noqa: E402

from sleuth.dry.fake import hollow  # noqa: E402


@pytest.fixture(scope="module")
def real() -> dict[str, tuple[str, str]]:
    return {name: outcome(call, halves) for name, call in CALLS.items()}


@pytest.fixture(scope="module")
def stage(real: dict[str, tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One for all, entered when what the real kernels say has been written down."""
    with fake_stage(tmp_path_factory.mktemp("stage")) as stage:
        yield stage


def halves(*shape: int, dtype: Any = torch.float32) -> Any:
    return torch.full(shape, 0.5).to(dtype)


def unknown(*shape: int, dtype: Any = torch.float32) -> Any:
    tensor = halves(*shape, dtype=dtype)
    with torch._C.DisableTorchFunction():
        hollow.forget_numbers(tensor)
    return tensor


def outcome(call: Callable[[Any], Any], maker: Callable[..., Any]) -> tuple[str, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(maker)
    except Exception as error:
        return type(error).__name__, str(error).partition("\nException raised")[0]
    return "taken", ""


def test_nearly_all_of_these_calls_are_refused(real: dict[str, tuple[str, str]]) -> None:
    assert sum(kind != "taken" for kind, _ in real.values()) > 190


@pytest.mark.parametrize("name", CALLS)
def test_real_and_fake_kernels_say_the_same(name: str, real: dict[str, tuple[str, str]], stage: Any) -> None:
    assert outcome(CALLS[name], unknown) == real[name]


def test_a_wrong_call_of_huge_tensors_is_refused_without_touching_their_memory(stage: Any) -> None:
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(65536x4096 and 5000x4096\)"):
        torch.randn(65536, 4096) @ torch.nn.Linear(4096, 5000).weight
