"""Golden messages: class and text as a CUDA build of torch has them. None could be provoked here, without a card.

Where each text comes from:
- wrapper: its pieces are in the CPU build's own libtorch_cpu (ATen/core/adaption.cpp); names and order of the arguments
  were made with the installed torchgen from its native_functions.yaml; seen whole for addmm, mm, bmm, cat, index_select
  and cudnn_batch_norm in reports of 2025 and 2026, e.g. ClownsharkBatwing/RES4LYF#223
- iterator, indexing, attention, masked fill, generator, pinned, lengths: the same, pieces in libtorch_cpu
- convolution: ATen/native/Convolution.cpp, check_input_same_type_as_parameters; seen whole in a log of March 2026
- recurrent: pieces in libtorch_cpu, seen whole in Lightning-AI/pytorch-lightning#3738
- assert, invalid ordinal: c10/cuda/CUDAMiscFunctions.cpp, seen whole in many reports since torch 2.9
- whole numbers, softmax, product of two types, batch norm: seen whole in reports
- autocast: the text is in libtorch_cpu; that it is raised on the card only is told by ATen/autocast_mode.h
- layer norm, mean squared error, hidden state of another type: by analogy with other kernels, not seen"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from pretending import raised
from torch import nn

ASSERTED = (
    "CUDA error: device-side assert triggered\n"
    "Search for `cudaErrorAssert' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more "
    "information.\n"
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
    "incorrect.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
)
NO_SUCH_CARD = (
    "CUDA error: invalid device ordinal\n"
    "GPU device may be out of range, do you have enough GPUs?\n"
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
    "incorrect.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
)


def wrapper(name: str, argument: str, place: str = "cpu", others: str = "cuda:0") -> str:
    return (
        f"Expected all tensors to be on the same device, but got {argument} is on {place}, different from other "
        f"tensors on {others} (when checking argument in method wrapper_CUDA_{name})"
    )


def iterator(first: str = "cuda:0", second: str = "cpu") -> str:
    return f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"


def recurrent(what: str, first: str = "cuda:0", second: str = "cpu") -> str:
    places = f"found input tensor at {first} and {what} tensor at {second}"
    return f"Input and {what} tensors are not at the same device, {places}"


def card(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, device="cuda")


def longs(*numbers: int, device: str = "cuda") -> torch.Tensor:
    return torch.tensor(numbers, device=device)


Act = Callable[[], object]

PLACES: dict[str, tuple[Act, str]] = {
    "addition": (lambda: card(3) + torch.randn(3), iterator()),
    "addition in place": (lambda: torch.randn(3).add_(card(3)), iterator()),
    "two cards": (
        lambda: torch.randn(3, device="cuda:0") * torch.randn(3, device="cuda:1"),
        iterator("cuda:0", "cuda:1"),
    ),
    "mean squared error": (lambda: F.mse_loss(card(3), torch.randn(3)), iterator()),
    "where": (lambda: torch.where(card(3) > 0, torch.randn(3), card(3)), iterator()),
    "linear, input left": (lambda: nn.Linear(3, 2).cuda()(torch.randn(4, 3)), wrapper("addmm", "mat1")),
    "linear, model left": (lambda: nn.Linear(3, 2)(card(4, 3)), wrapper("addmm", "mat1", "cuda:0", "cpu")),
    "linear without bias": (
        lambda: nn.Linear(3, 2, bias=False).cuda()(torch.randn(4, 3)),
        wrapper("mm", "mat2", "cuda:0", "cpu"),
    ),
    "matrix product": (lambda: card(2, 3) @ torch.randn(3, 2), wrapper("mm", "mat2")),
    "batches of products": (lambda: card(2, 3, 4) @ torch.randn(2, 4, 5), wrapper("bmm", "mat2")),
    "product of vectors": (lambda: card(3) @ torch.randn(3), wrapper("_dot", "tensor")),
    "embedding": (lambda: nn.Embedding(5, 2).cuda()(longs(1, device="cpu")), wrapper("_index_select", "index")),
    "embedding of a number": (
        lambda: nn.Embedding(5, 2).cuda()(torch.tensor(1)),
        wrapper("_index_select", "index"),
    ),
    "cross entropy": (lambda: F.cross_entropy(card(2, 3), torch.tensor([0, 1])), wrapper("nll_loss_forward", "target")),
    "cross entropy of pictures": (
        lambda: F.cross_entropy(card(2, 3, 4, 4), torch.zeros(2, 4, 4).long()),
        wrapper("_nll_loss2d_forward", "target"),
    ),
    "class weights": (
        lambda: nn.CrossEntropyLoss(weight=torch.ones(3))(card(2, 3), longs(0, 1)),
        wrapper("nll_loss_forward", "weight"),
    ),
    "batch norm": (lambda: nn.BatchNorm2d(3)(card(2, 3, 4, 4)), wrapper("_cudnn_batch_norm", "weight")),
    "layer norm": (lambda: nn.LayerNorm(3)(card(2, 3)), wrapper("_native_layer_norm", "weight")),
    "concatenation": (lambda: torch.cat([card(2), torch.randn(2)]), wrapper("cat", "tensors")),
    "stack": (lambda: torch.stack([torch.randn(2), card(2)]), wrapper("cat", "tensors", "cuda:0", "cpu")),
    "gather": (lambda: card(2, 3).gather(1, torch.tensor([[0]])), wrapper("gather", "index")),
    "scatter": (lambda: card(2, 3).scatter_(1, torch.tensor([[0]]), 1.0), wrapper("scatter__value", "index")),
    "convolution, input left": (
        lambda: nn.Conv2d(3, 4, 3).cuda()(torch.randn(1, 3, 8, 8)),
        "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same or input should be "
        "a MKLDNN tensor and weight is a dense tensor",
    ),
    "convolution, model left": (
        lambda: nn.Conv2d(3, 4, 3)(card(1, 3, 8, 8)),
        "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
    ),
    "hidden state": (
        lambda: nn.LSTM(3, 4).cuda()(card(2, 1, 3), (torch.zeros(1, 1, 4), torch.zeros(1, 1, 4))),
        recurrent("hidden"),
    ),
    "recurrent model left": (lambda: nn.LSTM(3, 4)(card(2, 1, 3)), recurrent("parameter")),
    "recurrent input left": (
        lambda: nn.GRU(3, 4).cuda()(torch.randn(2, 1, 3)),
        recurrent("parameter", "cpu", "cuda:0"),
    ),
    "recurrent cell": (
        lambda: nn.LSTMCell(3, 4).cuda()(torch.randn(2, 3), (card(2, 4), card(2, 4))),
        wrapper("addmm", "mat1"),
    ),
    "index": (
        lambda: torch.randn(3)[longs(0)],
        "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
    ),
    "mask": (
        lambda: torch.randn(3)[card(3) > 0],
        "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
    ),
    "assignment by index": (lambda: card(3).__setitem__(longs(0, 1), torch.randn(2)), iterator()),
    "masked fill": (
        lambda: card(3).masked_fill(torch.ones(3).bool(), 0.0),
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
    ),
    "attention": (
        lambda: F.scaled_dot_product_attention(card(1, 1, 2, 4), torch.randn(1, 1, 2, 4), card(1, 1, 2, 4)),
        "Expected query, key, and value to have the same device type, but got query.device: cuda:0 key.device: cpu and "
        "value.device: cuda:0 instead.",
    ),
    "generator": (
        lambda: torch.randn(3, device="cuda", generator=torch.Generator()),
        "Expected a 'cuda' device type for generator but found 'cpu'",
    ),
    "generator of the card": (
        lambda: torch.randperm(3, generator=torch.Generator("cuda")),
        "Expected a 'cpu' device type for generator but found 'cuda'",
    ),
    "pinned": (
        lambda: card(3).pin_memory(),
        "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
    ),
    "lengths": (
        lambda: nn.utils.rnn.pack_padded_sequence(card(3, 2, 4), longs(3, 2)),
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_tensors_on_different_devices_raise_what_a_card_raises(name: str) -> None:
    act, text = PLACES[name]
    error = raised(act, cards=2)
    assert type(error) is RuntimeError
    assert str(error) == text


FINE: dict[str, Act] = {
    "a number on the CPU": lambda: card(3) * torch.tensor(2.0),
    "an index on the CPU": lambda: card(3)[torch.tensor([0])],
    "assignment to a slice": lambda: card(3).__setitem__(slice(0, 2), torch.randn(2)),
    "copy_": lambda: card(3).copy_(torch.randn(3)),
    "a packed sequence": lambda: nn.LSTM(3, 4).cuda()(
        nn.utils.rnn.pack_padded_sequence(card(3, 2, 3), torch.tensor([3, 2]))
    ),
    "labels on the CPU, out of range, on the CPU": lambda: F.one_hot(torch.tensor([2]), 3),
}


@pytest.mark.parametrize("name", FINE)
def test_what_a_card_allows_goes_well(name: str) -> None:
    assert raised(FINE[name]) is None


ASSERTS: dict[str, Act] = {
    "label": lambda: F.cross_entropy(card(2, 3), longs(0, 3)),
    "label of a picture": lambda: F.cross_entropy(card(2, 3, 4, 4), torch.full((2, 4, 4), 7, device="cuda")),
    "embedding": lambda: nn.Embedding(5, 2).cuda()(longs(9)),
    "gather": lambda: card(2, 3).gather(1, torch.tensor([[9]], device="cuda")),
    "index": lambda: card(3)[longs(9)],
    "list as index": lambda: card(3)[[9]],
    "probability": lambda: F.binary_cross_entropy(card(3).abs() + 2, torch.ones(3, device="cuda")),
    "multinomial": lambda: torch.multinomial(-card(3).abs(), 1),
    "one hot": lambda: F.one_hot(longs(7), 3),
}


@pytest.mark.parametrize("name", ASSERTS)
def test_a_value_out_of_range_is_an_assert_on_the_card(name: str) -> None:
    error = raised(ASSERTS[name])
    assert type(error) is torch.AcceleratorError
    assert str(error) == ASSERTED


def test_a_plain_number_as_index_is_checked_before_any_kernel() -> None:
    error = raised(lambda: card(3)[9])
    assert type(error) is IndexError
    assert str(error) == "index 9 is out of bounds for dimension 0 with size 3"


def test_on_the_cpu_the_cpus_own_words_stay() -> None:
    error = raised(lambda: F.cross_entropy(torch.randn(2, 3), torch.tensor([0, 3])))
    assert type(error) is IndexError
    assert str(error) == "Target 3 is out of bounds."


TYPES: dict[str, tuple[Act, type[Exception], str]] = {
    "int32 labels": (
        lambda: F.cross_entropy(card(2, 3), longs(0, 1).int()),
        RuntimeError,
        "expected target dtype to be Long or Byte, but got Int",
    ),
    "linear": (
        lambda: nn.Linear(3, 2).cuda()(card(4, 3).double()),
        RuntimeError,
        "mat1 and mat2 must have the same dtype, but got Double and Float",
    ),
    "matrix product": (
        lambda: card(2, 2) @ card(2, 2).half(),
        RuntimeError,
        "expected mat1 and mat2 to have the same dtype, but got: float != c10::Half",
    ),
    "product of whole numbers": (
        lambda: card(2, 2).long() @ card(2, 2).long(),
        NotImplementedError,
        "\"addmm_cuda\" not implemented for 'Long'",
    ),
    "batches of whole numbers": (
        lambda: torch.bmm(card(1, 2, 2).int(), card(1, 2, 2).int()),
        NotImplementedError,
        "\"baddbmm_cuda\" not implemented for 'Int'",
    ),
    "convolution": (
        lambda: nn.Conv2d(3, 4, 3, bias=False).cuda().half()(card(1, 3, 8, 8)),
        RuntimeError,
        "Input type (torch.cuda.FloatTensor) and weight type (torch.cuda.HalfTensor) should be the same",
    ),
    "convolution with bias": (
        lambda: nn.Conv2d(3, 4, 3).cuda().half()(card(1, 3, 8, 8)),
        RuntimeError,
        "Input type (float) and bias type (c10::Half) should be the same",
    ),
    "embedding": (
        lambda: nn.Embedding(5, 2).cuda()(card(3)),
        RuntimeError,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        "torch.cuda.FloatTensor instead (while checking arguments for embedding)",
    ),
    "batch norm": (
        lambda: nn.BatchNorm2d(3).cuda()(card(2, 3, 4, 4).double()),
        RuntimeError,
        "Expected tensor for argument #1 'input' to have the same type as tensor for argument #2 'weight'; but type "
        "torch.cuda.DoubleTensor does not equal torch.cuda.FloatTensor (while checking arguments for cudnn_batch_norm)",
    ),
    "layer norm": (
        lambda: nn.LayerNorm(3).cuda()(card(2, 3).double()),
        RuntimeError,
        "expected scalar type Double but found Float",
    ),
    "hidden state": (
        lambda: nn.GRU(3, 4).cuda()(card(2, 1, 3), torch.zeros(1, 1, 4, device="cuda").double()),
        RuntimeError,
        "Input and hidden tensors are not the same dtype, found input tensor with Float and hidden tensor with Double",
    ),
    "softmax": (
        lambda: torch.softmax(longs(1, 2), 0),
        NotImplementedError,
        "\"host_softmax\" not implemented for 'Long'",
    ),
    "mean squared error": (
        lambda: F.mse_loss(longs(1), longs(2)),
        NotImplementedError,
        "\"mse_cuda\" not implemented for 'Long'",
    ),
    "numpy": (
        lambda: card(3).numpy(),
        TypeError,
        "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
    ),
    "random state on the card": (
        lambda: torch.cuda.set_rng_state(torch.cuda.get_rng_state().cuda()),
        TypeError,
        "RNG state must be a torch.ByteTensor",
    ),
    "card that is not there": (lambda: torch.zeros(2).to("cuda:3"), torch.AcceleratorError, NO_SUCH_CARD),
}


@pytest.mark.parametrize("name", TYPES)
def test_wrong_types_raise_what_a_card_raises(name: str) -> None:
    act, kind, text = TYPES[name]
    error = raised(act)
    assert type(error) is kind
    assert str(error) == text


def test_binary_cross_entropy_is_refused_under_autocast_on_the_card_only() -> None:
    def lose(device: str) -> None:
        with torch.autocast(device):
            F.binary_cross_entropy(torch.rand(3, device=device), torch.rand(3, device=device))

    error = raised(lambda: lose("cuda"))
    assert type(error) is RuntimeError
    assert str(error).startswith(
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
    )
    assert raised(lambda: lose("cpu")) is None


def test_double_precision_is_refused_on_a_mac() -> None:
    for act in (
        lambda: torch.zeros(3, dtype=torch.float64, device="mps"),
        lambda: torch.zeros(3, dtype=torch.float64).to("mps"),
        lambda: torch.zeros(3, device="mps").double(),
    ):
        error = raised(act, device="mps")
        assert type(error) is TypeError
        assert str(error) == (
            "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
            "Please use float32 instead."
        )


def test_a_machine_without_a_card_says_so() -> None:
    error = raised(lambda: torch.zeros(3).cuda(), device="cpu")
    assert type(error) is AssertionError
    assert str(error) == "Torch not compiled with CUDA enabled"
