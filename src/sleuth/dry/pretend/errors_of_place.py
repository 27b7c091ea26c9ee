"""What a kernel says when its tensors are on different devices: each family has its own words.

The words are those of torch 2.13. A kernel of the CUDA build checks its tensors in the order of its own arguments
before it starts (`check_and_update_common_device`; the name of the wrapper comes from torchgen). Those made with
TensorIterator, convolutions, recurrent networks, indexing and attention each check for themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from sleuth.dry.births import Argument, Birth, Call

CPU = "cpu"

# The kernel behind an operation: its wrapper, the operation's arguments in their order, and what the kernel calls them
# in the order in which it checks them.
_KERNELS = """
mm                 mm                      input mat2                       self=input mat2=mat2
bmm                bmm                     input mat2                       self=input mat2=mat2
addmm              addmm                   input mat1 mat2                  self=input mat1=mat1 mat2=mat2
addmm_             addmm_                  input mat1 mat2                  self=input mat1=mat1 mat2=mat2
baddbmm            baddbmm                 input batch1 batch2              self=input batch1=batch1 batch2=batch2
addbmm             _addbmm                 input batch1 batch2              self=input batch1=batch1 batch2=batch2
addmv              addmv                   input mat vec                    self=input mat=mat vec=vec
mv                 addmv_                  input vec                        self=vec mat=input vec=vec
dot                _dot                    input tensor                     self=input tensor=tensor
vdot               _vdot                   input other                      self=input other=other
cat                cat                     tensors                          tensors=tensors
concat             cat                     tensors                          tensors=tensors
concatenate        cat                     tensors                          tensors=tensors
stack              cat                     tensors                          tensors=tensors
hstack             cat                     tensors                          tensors=tensors
vstack             cat                     tensors                          tensors=tensors
dstack             cat                     tensors                          tensors=tensors
embedding          _index_select           input weight                     self=weight index=input
embedding_bag      __embedding_bag         input weight offsets             weight=weight indices=input offsets=offsets
index_select       _index_select           input dim index                  self=input index=index
gather             gather                  input dim index                  self=input index=index
take_along_dim     gather                  input indices                    self=input index=indices
scatter            scatter_src             input dim index src              self=input index=index src=src
scatter_           scatter__src            input dim index src              self=input index=index src=src
scatter_add        scatter_add             input dim index src              self=input index=index src=src
scatter_add_       scatter_add_            input dim index src              self=input index=index src=src
scatter_reduce     scatter_reduce_two      input dim index src              self=input index=index src=src
scatter_reduce_    scatter_reduce__two     input dim index src              self=input index=index src=src
index_add          index_add               input dim index source           self=input index=index source=source
index_add_         index_add_              input dim index source           self=input index=index source=source
index_copy         index_copy              input dim index source           self=input index=index source=source
index_copy_        index_copy_             input dim index source           self=input index=index source=source
masked_select      _masked_select          input mask                       self=input mask=mask
masked_scatter_    _masked_scatter_        input mask source                self=input mask=mask source=source
take               _take                   input index                      self=input index=index
nll_loss           nll_loss_forward        input target weight              self=input target=target weight=weight
cross_entropy      nll_loss_forward        input target weight              self=input target=target weight=weight
nll_loss2d         _nll_loss2d_forward     input target weight              self=input target=target weight=weight
huber_loss         _huber_loss             input target                     self=input target=target
multi_margin_loss  _multi_margin_loss      input target                     self=input target=target
layer_norm         _native_layer_norm      input shape weight bias          input=input weight=weight bias=bias
rms_norm           __fused_rms_norm        input shape weight               input=input weight=weight
group_norm         _native_group_norm      input groups weight bias         input=input weight=weight bias=bias
batch_norm         _cudnn_batch_norm       input running_mean running_var weight bias \
 input=input weight=weight bias=bias running_mean=running_mean running_var=running_var
cdist              __cdist_forward         x1 x2                            x1=x1 x2=x2
equal              _equal                  input other                      self=input other=other
bucketize          Tensor_bucketize        input boundaries                 self=input boundaries=boundaries
searchsorted       Tensor_searchsorted     sorted_sequence input            sorted_sequence=sorted_sequence self=input
isin               isin_Tensor_Tensor      elements test_elements elements=elements test_elements=test_elements
multi_head_attention_forward addmm        query key value embed_dim num_heads in_proj_weight in_proj_bias \
 self=in_proj_bias mat1=query mat2=in_proj_weight
lstm_cell          addmm                   input hx w_ih w_hh b_ih b_hh     self=b_ih mat1=input mat2=w_ih
gru_cell           addmm                   input hx w_ih w_hh b_ih b_hh     self=b_ih mat1=input mat2=w_ih
rnn_tanh_cell      addmm                   input hx w_ih w_hh b_ih b_hh     self=b_ih mat1=input mat2=w_ih
rnn_relu_cell      addmm                   input hx w_ih w_hh b_ih b_hh     self=b_ih mat1=input mat2=w_ih
"""
# A number on the CPU may be used anywhere, but not by these.
MIND_NUMBERS = {"embedding", "index_select", "gather", "take", "cross_entropy", "nll_loss"}
_RECURRENT = {"lstm", "gru", "rnn_tanh", "rnn_relu"}
_CONVOLUTIONS = {f"conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3)}
_TYPES = {
    "float32": "FloatTensor",
    "float64": "DoubleTensor",
    "float16": "HalfTensor",
    "bfloat16": "BFloat16Tensor",
    "int64": "LongTensor",
    "int32": "IntTensor",
    "int16": "ShortTensor",
    "int8": "CharTensor",
    "uint8": "ByteTensor",
    "bool": "BoolTensor",
}


@dataclass(frozen=True, slots=True)
class _Kernel:
    wrapper: str
    signature: tuple[str, ...]
    # (the kernel's name of an argument, the operation's), in the order in which they are checked
    checks: tuple[tuple[str, str], ...]


@cache
def _kernels() -> dict[str, _Kernel]:
    kernels = {}
    for line in _KERNELS.replace("\\\n", " ").strip().splitlines():
        operation, wrapper, *rest = line.split()
        checks = [tuple(one.split("=")) for one in rest if "=" in one]
        signature = tuple(one for one in rest if "=" not in one)
        kernels[operation] = _Kernel(wrapper, signature, tuple(checks))  # type: ignore[arg-type]
    return kernels


def device_mismatch(call: Call, labels: tuple[str, ...]) -> RuntimeError | None:
    """The error for a call whose tensors are on these devices; None where its kernel does not mind."""
    card = next((label for label in labels if label != CPU), CPU)
    if card.startswith("mps"):
        return _on_mps(call, card)
    own = _OWN_WORDS.get(call.operation)
    if own is not None:
        text = own(call)
        return None if text is None else RuntimeError(text)
    for kernel in _kernels_of(call):
        text = _checked(call, kernel)
        if text is not None:
            return RuntimeError(text)
    return RuntimeError(_iterated(call, card, labels))


def type_name(birth: Birth) -> str:
    """`torch.cuda.FloatTensor`, as torch prints a tensor's type in its messages."""
    kind = birth.device.partition(":")[0]
    name = _TYPES.get(birth.dtype, birth.dtype)
    if kind == "mps":
        return f"MPS{name.removesuffix('Tensor')}Type"
    return f"torch.{name}" if kind == CPU else f"torch.{kind}.{name}"


def given(call: Call, signature: tuple[str, ...]) -> dict[str, list[Birth]]:
    """The tensors of the call, by the names of the arguments they were given for."""
    found: dict[str, list[Birth]] = {name: [] for name in signature}
    for argument in call.arguments:
        if argument.birth is not None:
            found.setdefault(_name(argument, signature), []).append(argument.birth)
    return found


def _name(argument: Argument, signature: tuple[str, ...]) -> str:
    name = argument.name.partition("[")[0]
    if not name.isdigit():
        return "input" if name == "self" else name
    return signature[int(name)] if int(name) < len(signature) else name


def _kernels_of(call: Call) -> Iterator[_Kernel]:
    """The kernels that the operation comes to, in the order in which they would run."""
    table = _kernels()
    if call.operation == "linear":
        yield _kernel_of_linear(call)
    elif call.operation in ("matmul", "rmatmul", "chain_matmul"):
        yield _kernel_of_matmul(call)
    elif call.operation in ("einsum", "tensordot", "bilinear"):
        yield _Kernel("bmm", ("equation", "first", "second"), (("self", "first"), ("mat2", "second")))
    elif call.operation in table:
        kernel = table[call.operation]
        if call.operation in ("cross_entropy", "nll_loss") and _is_of_pictures(call):
            kernel = _Kernel("_nll_loss2d_forward", kernel.signature, kernel.checks)
        if call.operation in ("scatter", "scatter_") and not given(call, kernel.signature)["src"]:
            kernel = _Kernel(kernel.wrapper.replace("_src", "_value"), kernel.signature, kernel.checks[:2])
        if call.operation == "batch_norm" and given(call, kernel.signature)["input"][0].device == CPU:
            kernel = _Kernel("_native_batch_norm", kernel.signature, kernel.checks)
        yield kernel
        if call.operation.endswith("_cell"):
            yield _Kernel("addmm", kernel.signature, (("self", "b_hh"), ("mat1", "hx"), ("mat2", "w_hh")))


def _kernel_of_linear(call: Call) -> _Kernel:
    signature = ("input", "weight", "bias")
    if given(call, signature)["bias"]:
        return _Kernel("addmm", signature, (("self", "bias"), ("mat1", "input"), ("mat2", "weight")))
    return _Kernel("mm", signature, (("self", "input"), ("mat2", "weight")))


def _kernel_of_matmul(call: Call) -> _Kernel:
    signature = ("first", "second") if call.operation != "rmatmul" else ("second", "first")
    births = given(call, signature)
    first, second = (len(one[0].shape) if one else 2 for one in (births["first"], births["second"]))
    if first == 1 and second == 1:
        return _Kernel("_dot", signature, (("self", "first"), ("tensor", "second")))
    if first == 2 and second == 1:
        return _Kernel("addmv_", signature, (("self", "second"), ("mat", "first"), ("vec", "second")))
    wrapper = "bmm" if first > 2 and second > 2 else "mm"
    return _Kernel(wrapper, signature, (("self", "first"), ("mat2", "second")))


def _is_of_pictures(call: Call) -> bool:
    births = given(call, ("input",))["input"]
    return bool(births) and len(births[0].shape) > 2


def _checked(call: Call, kernel: _Kernel) -> str | None:
    """What `check_and_update_common_device` says of the first argument that is elsewhere than those before it."""
    births = given(call, kernel.signature)
    common: str | None = None
    for name, source in kernel.checks:
        for birth in births.get(source, ()):
            if common is None:
                common = birth.device
            elif birth.device != common:
                return (
                    f"Expected all tensors to be on the same device, but got {name} is on {birth.device}, different "
                    f"from other tensors on {common} (when checking argument in method wrapper_CUDA_{kernel.wrapper})"
                )
    return None


def _iterated(call: Call, card: str, labels: tuple[str, ...]) -> str:
    """TensorIterator's words: the first device that is not the CPU, then the other."""
    places = [birth.device for birth in call.births if birth.shape or birth.device != CPU]
    other = next((place for place in [*places, *labels] if place != card), CPU)
    return f"Expected all tensors to be on the same device, but found at least two devices, {card} and {other}!"


def _convolved(call: Call) -> str | None:
    births = given(call, ("input", "weight", "bias"))
    first, weight = births["input"][0], births["weight"][0]
    if first.device == weight.device and first.dtype == weight.dtype:
        bias = births["bias"]
        other, what = (bias[0] if bias else weight), "bias"
    else:
        other, what = weight, "weight"
    text = f"Input type ({type_name(first)}) and {what} type ({type_name(other)}) should be the same"
    if first.device == CPU and first.dtype == "float32":
        # The CPU's kernel gets the call, and it could have taken an MKLDNN tensor.
        text += f" or input should be a MKLDNN tensor and {what} is a dense tensor"
    return text


def _recurred(call: Call) -> str | None:
    """The input is compared with the hidden state, then with the weights; packed batches' sizes stay on the CPU."""
    tensors = [argument for argument in call.arguments if argument.birth is not None]
    first = tensors[0].birth
    assert first is not None
    packed = len(tensors) > 1 and tensors[1].name == "1" and tensors[1].birth.dtype == "int64"  # type: ignore[union-attr]
    hidden = "2" if packed else "1"
    for argument in tensors[2 if packed else 1 :]:
        birth = argument.birth
        assert birth is not None
        what = "hidden" if argument.name.partition("[")[0] == hidden else "parameter"
        if birth.device != first.device:
            return (
                f"Input and {what} tensors are not at the same device, found input tensor at {first.device} and {what} "
                f"tensor at {birth.device}"
            )
    return None


def _indexed(call: Call) -> str | None:
    births = given(call, ("input", "index", "value"))
    own = births["input"][0].device
    if any(index.device not in (CPU, own) for index in births["index"]):
        return f"indices should be either on cpu or on the same device as the indexed tensor ({own})"
    if births["index"] and any(value.device != own and value.shape for value in births["value"]):
        card = next((one.device for one in call.births if one.device != CPU), CPU)
        return _iterated(call, card, tuple(one.device for one in call.births))
    return None


def _attended(call: Call) -> str | None:
    births = given(call, ("query", "key", "value", "attn_mask"))
    query, key, value = (births[name][0].device for name in ("query", "key", "value"))
    if query == key == value:
        mask = births["attn_mask"]
        if not mask or mask[0].device == query:
            return None
        return (
            f"Expected all tensors to be on the same device, but got attn_mask is on {mask[0].device}, different from "
            f"other tensors on {query} (when checking argument in method wrapper_CUDA___fused_sdp_choice)"
        )
    return (
        f"Expected query, key, and value to have the same device type, but got query.device: {query} key.device: {key} "
        f"and value.device: {value} instead."
    )


def _masked(call: Call) -> str | None:
    births = given(call, ("input", "mask", "value"))
    own, mask = births["input"][0].device, births["mask"][0].device
    if mask != own:
        return f"expected self and mask to be on the same device, but got mask on {mask} and self on {own}"
    return _iterated(call, own, (own, CPU)) if births["value"] and births["value"][0].shape else None


def _sampled(call: Call) -> str | None:
    births = given(call, ("input", "grid"))
    first, grid = births["input"][0].device, births["grid"][0].device
    return (
        f"grid_sampler(): expected input and grid to be on same device, but input is on {first} and grid is on {grid}"
    )


def _windowed(call: Call) -> str | None:
    births = [birth for birth in call.births if birth.shape]
    other = next(birth.device for birth in births if birth.device != births[0].device)
    return (
        f"{call.operation} input and window must be on the same device but got self on {births[0].device} and window "
        f"on {other}"
    )


def _split(call: Call) -> str | None:
    """Where to cut a tensor is read on the CPU."""
    births = given(call, ("input", "sections"))
    places = [one.device for one in births["sections"]]
    if all(place == CPU for place in places):
        return None
    return f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {places[0]}"


_OWN_WORDS = {
    **dict.fromkeys(_CONVOLUTIONS, _convolved),
    **dict.fromkeys(_RECURRENT, _recurred),
    "getitem": _indexed,
    "setitem": _indexed,
    "setitem_": _indexed,
    "index_put": _indexed,
    "index_put_": _indexed,
    "scaled_dot_product_attention": _attended,
    "masked_fill": _masked,
    "masked_fill_": _masked,
    "grid_sample": _sampled,
    "grid_sampler": _sampled,
    "stft": _windowed,
    "istft": _windowed,
    "tensor_split": _split,
}


def _on_mps(call: Call, card: str) -> RuntimeError | None:
    """The kernels of a Mac check less, and later."""
    own = _OWN_WORDS.get(call.operation)
    if own is not None:
        text = own(call)
        return None if text is None else RuntimeError(text)
    if call.operation == "linear":
        births = given(call, ("input", "weight", "bias"))
        name = next((name for name, ones in births.items() if ones and ones[0].device == CPU), "weight")
        return RuntimeError(f"Tensor for argument {name} is on cpu but expected on mps")
    if any(True for _ in _kernels_of(call)):
        return RuntimeError("Placeholder storage has not been allocated on MPS device!")
    return RuntimeError(_iterated(call, card, (card, CPU)))
