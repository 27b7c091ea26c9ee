"""The reference's inputs are fitted to the target in the one way that fits, or both signatures are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from sleuth.compare import fit
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.values import Array, Batch, Input


class Model(Side):
    def __init__(self, title: str, *inputs: Input, learnt: bool = False) -> None:
        self.title = title
        self.inputs = inputs
        self.learnt = learnt

    def run(self, batch: Batch) -> list[Array]:
        raise NotImplementedError


def floats(name: str, *shape: int | None) -> Input:
    return Input(name, shape, "float32")


def ids(name: str, *shape: int | None, dtype: str = "int64") -> Input:
    return Input(name, shape, dtype)


def zeros(one: Input, rows: int = 2) -> Array:
    return np.zeros([rows if size is None else size for size in one.shape], one.dtype)


def refused(target: Model, reference: Model, batch: Batch) -> str:
    with pytest.raises(CannotCompare) as caught:
        fit.to(target, reference, batch)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("own", "theirs"),
    [
        (("a", "b"), ("b", "a")),
        (("input_ids", "mask"), ("serving_default_mask:0", "serving_default_input_ids:0")),
        (("input_ids", "token_type_ids"), ("model/tokenTypeIds", "model/inputIds")),
        (("a", "b", "unused"), ("b", "a")),
    ],
)
def test_inputs_go_by_their_names(own: tuple[str, ...], theirs: tuple[str, ...]) -> None:
    reference = Model("A", *(floats(name, None, 3) for name in own))
    target = Model("B", *(floats(name, None, 3) for name in theirs))
    batch = tuple(np.full((2, 3), place, np.float32) for place in range(len(own)))
    assert [array.flat[0] for array in fit.to(target, reference, batch)] == [1, 0]


def test_inputs_without_common_names_go_by_place_and_else_by_the_only_order_that_fits() -> None:
    reference = Model("A", floats("image", None, 3, 8, 8), ids("words", None, 5))
    batch = tuple(zeros(one) for one in reference.inputs)
    same = Model("B", floats("x0", None, 3, 8, 8), ids("x1", None, 5))
    turned = Model("B", ids("x0", None, 5), floats("x1", None, 8, 8, 3))
    assert [array.ndim for array in fit.to(same, reference, batch)] == [4, 2]
    assert [array.shape for array in fit.to(turned, reference, batch)] == [(2, 5), (2, 8, 8, 3)]


@pytest.mark.parametrize(
    ("target", "line"),
    [
        (
            Model("b.onnx", floats("x", None, 3), floats("y", None, 3)),
            "the two take different inputs: b.onnx (x: any x 3 float32, y: any x 3 float32), "
            "net (image: 2 x 3 x 8 x 8 float32)",
        ),
        (
            Model("b.onnx", floats("x", None, 3, 9, 9)),
            "b.onnx: input x takes any x 3 x 9 x 9 float32, and was given 2 x 3 x 8 x 8 float32",
        ),
        (
            Model("b.onnx", floats("x", 1, 3, 8, 8)),
            "b.onnx: input x takes 1 x 3 x 8 x 8 float32, and was given 2 x 3 x 8 x 8 float32: its batch is fixed at 1",
        ),
        (
            Model("b.onnx", ids("x", None, 3, 8, 8)),
            "b.onnx: input x takes any x 3 x 8 x 8 int64, and was given 2 x 3 x 8 x 8 float32",
        ),
    ],
)
def test_a_misfit_is_one_line_that_names_both(target: Model, line: str) -> None:
    assert refused(target, Model("net", floats("image", None, 3, 8, 8)), (np.zeros((2, 3, 8, 8), np.float32),)) == line


def test_two_orders_that_both_fit_are_not_guessed_between() -> None:
    reference = Model("A", ids("a", None, 5), floats("b", None, 3), floats("c", None, 3))
    target = Model("B", floats("x", None, 3), floats("y", None, 3), ids("z", None, 5))
    assert refused(target, reference, tuple(zeros(one) for one in reference.inputs)).startswith(
        "the two take different inputs: B (x: any x 3 float32"
    )


@pytest.mark.parametrize(
    ("shape", "wanted", "fitted"),
    [
        ((1, 3, 4), (3, 4), (3, 4)),
        ((3, 4), (1, 3, 4), (1, 3, 4)),
        ((6,), (None, 1), (6, 1)),
        ((6, 1), (6,), (6,)),
    ],
)
def test_axes_of_one_are_put_on_and_taken_off(shape: tuple[int, ...], wanted: Any, fitted: tuple[int, ...]) -> None:
    batch = (np.arange(np.prod(shape), dtype=np.float32).reshape(shape),)
    [array] = fit.to(Model("B", floats("y", *wanted)), Model("A", floats("x", *shape)), batch)
    assert array.shape == fitted
    assert np.array_equal(array.ravel(), batch[0].ravel())


@pytest.mark.parametrize(
    ("array", "dtype", "fits"),
    [
        (np.array([[5]], np.int64), "int32", True),
        (np.array([[2**40]], np.int64), "int32", False),
        (np.array([[7]], np.int64), "float32", True),
        (np.array([[2**40]], np.int64), "float32", False),
        (np.array([[True]]), "int64", True),
        (np.array([[2]], np.int64), "bool", False),
        (np.array([[0.5]], np.float64), "float32", True),
        (np.array([[1.0]], np.float32), "int64", False),
    ],
)
def test_a_type_is_changed_only_where_no_number_is(array: Array, dtype: str, fits: bool) -> None:
    target = Model("B", Input("x", (None, 1), dtype))
    if not fits:
        assert "takes" in refused(target, Model("A"), (array,))
        return
    [found] = fit.to(target, Model("A"), (array,))
    assert found.dtype.name == dtype
    assert found.item() == array.item()


def test_a_side_that_learnt_from_an_example_takes_other_sizes_in_its_own_layout() -> None:
    target = Model("port", floats("x", 2, 3, 32, 32), learnt=True)
    for shape, fitted in (((8, 3, 64, 48), (8, 3, 64, 48)), ((8, 64, 48, 3), (8, 3, 64, 48))):
        [array] = fit.to(target, Model("A"), (np.zeros(shape, np.float32),))
        assert array.shape == fitted


sizes = st.integers(1, 6)
shapes = st.lists(sizes, min_size=1, max_size=5).map(tuple)


@st.composite
def signatures(draw: st.DrawFn) -> tuple[tuple[Input, ...], Batch]:
    """A model's inputs and a batch for them, in which every number is another."""
    count = draw(st.integers(1, 4))
    inputs, batch = [], []
    for place in range(count):
        shape = draw(shapes)
        free = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
        dtype = draw(st.sampled_from(["float32", "int64"]))
        wanted = tuple(None if open_ else size for size, open_ in zip(shape, free, strict=True))
        inputs.append(Input(f"name_{place}", wanted, dtype))
        batch.append((np.arange(np.prod(shape)).reshape(shape) + 1000 * place).astype(dtype))
    return tuple(inputs), tuple(batch)


@drawn(signatures(), st.randoms(use_true_random=False))
def test_any_order_of_the_same_names_is_undone(signature: tuple[tuple[Input, ...], Batch], random: Any) -> None:
    inputs, batch = signature
    order = list(range(len(inputs)))
    random.shuffle(order)
    fitted = fit.to(Model("B", *(inputs[place] for place in order)), Model("A", *inputs), batch)
    assert all(np.array_equal(array, batch[place]) for array, place in zip(fitted, order, strict=True))


@drawn(signatures(), signatures())
def test_what_is_fitted_has_the_wanted_shape_and_the_same_numbers(
    own: tuple[tuple[Input, ...], Batch], other: tuple[tuple[Input, ...], Batch]
) -> None:
    renamed = [Input(f"x{place}", one.shape, one.dtype) for place, one in enumerate(other[0])]
    try:
        fitted = fit.to(Model("B", *renamed), Model("A", *own[0]), own[1])
    except CannotCompare:
        return
    for wanted, array in zip(renamed, fitted, strict=True):
        assert fit.has_shape(array.shape, wanted.shape)
        assert array.dtype.name == wanted.dtype
    numbers = sorted(float(number) for array in own[1] for number in array.ravel())
    assert sorted(float(number) for array in fitted for number in array.ravel()) == numbers


@drawn(signatures())
def test_fixed_sizes_are_reached_by_cutting_and_repeating(signature: tuple[tuple[Input, ...], Batch]) -> None:
    inputs, batch = signature
    longer = tuple(np.repeat(array, 2, axis=0) for array in batch)
    resized = fit.in_sizes_of(Model("B", *inputs), Model("A", *inputs), longer)
    assert resized is not None
    target = Model("B", *inputs)
    assert len(fit.to(target, Model("A", *inputs), resized)) == len(inputs)
