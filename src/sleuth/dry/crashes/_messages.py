"""The words in which torch says that shapes, types, values or devices do not fit: on CPU and GPU, on fake tensors."""

from __future__ import annotations

import re

_SHAPES = re.compile(
    r"shapes cannot be multiplied|must match the size of tensor|must match the existing size|"
    r"is invalid for input of size|"
    r"Sizes of tensors must match except|expects each tensor to be equal size|doesn't match the broadcast shape|"
    r"Expected size for first two dimensions of batch2|size mismatch, got|inconsistent tensor size|"
    r"does not broadcast with previously seen size|Tensors must have same number of dimensions|"
    r"must have same reduction dim|same number of elements|don't multiply up to the size|"
    r"split_sizes to sum exactly|Halving dimension must be even|must have the same number of columns|"
    r"size does not match weight size|shape of the mask|attn_mask is|"
    r"hidden(?:\[\d\])? size|batch size \d+ doesn't match|"
    r"to have \d+ channels|running_mean should contain|expected input with shape|must be equal to input_size|"
    r"inconsistent input_size|expecting embedding dimension|size of tensor|Attempting to broadcast|"
    r"weight to be a vector of size equal|could not be broadcast|divisible by the square of upscale_factor|"
    r"Shape mismatch|shape mismatch|not broadcastable|Incompatible shapes|cannot be broadcast|"
    r"Expected target size|to match target batch_size|must be the same as input size|different to the input size"
)
_DIMENSIONS = re.compile(
    r"Expected \d+-?D .*input|expected \d+D.* input|Expected input to be \d+D|Dimension out of range|"
    r"too many indices for tensor|does not match the length of the desired ordering|expects a tensor with <= \d dim|"
    r"Only 3D, 4D and 5D input|same number of dimensions|two times the input dimension|"
    r"must (?:be|have) at least (?:\d+|one|two)(?:-?D\b|[- ]dim)|"
    r"expected \d+D or \d+D|to be \d+-?D|3D or 4D|input must have \d+ dimensions"
)
_TYPES = re.compile(
    r"same dtype|expected scalar type|Found dtype|Input type \(|does not match weight dtype|mixed dtype|"
    r"can't be cast to the desired output type|to have one of the following scalar types|expected target dtype|"
    r"must be long, int, byte or bool tensors|Expected dtype|expected dtype|two bool tensors|"
    r"only applicable to index tensor|not implemented for '(?:Long|Int|Bool|Byte|Double|Half|Short|Char|Float)'|"
    r"same data ?type|share same datatype|dtype mismatch|must have the same type"
)
_VALUES = re.compile(
    r"out of bounds|index out of range|tried to access index|should be between|device-side assert|"
    r"probability tensor contains|invalid multinomial distribution|Class values must be|Index \d+ of input takes value|"
    r"Expected p_in >= 0|(?:contains?|found|got) (?:nan|inf)\b",
    re.IGNORECASE,
)
_DEVICES = re.compile(
    r"Expected all tensors to be on the same device|are not at the same device|"
    r"Input type \(torch\.(?:cuda\.)?\w+Tensor\) and (?:weight|bias) type \(torch\.(?:cuda\.)?\w+Tensor\)|"
    r"should be either on .*same device|assign a gradient with device type|device type for generator|"
    r"(?:must|to) be on the same device|at least two devices|cannot pin"
)


def is_about_shapes(message: str) -> bool:
    return bool(_SHAPES.search(message))


def is_about_dimensions(message: str) -> bool:
    return bool(_DIMENSIONS.search(message))


def is_about_types(message: str) -> bool:
    return bool(_TYPES.search(message)) and not is_about_devices(message)


def is_about_values(message: str) -> bool:
    """Is a number out of its range, whatever the shape of the tensor that it is in?"""
    return bool(_VALUES.search(message))


def is_about_devices(message: str) -> bool:
    """`Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor)` is; of one device it is not."""
    found = _DEVICES.search(message)
    if found is None:
        return False
    return not found.group().startswith("Input type") or len(set(re.findall(r"\((torch\.(?:cuda\.)?)", message))) > 1


def said(error: BaseException) -> str:
    """The message; for a card that says no more than "assert triggered" also what the CPU says of the same."""
    text = str(error)
    return f"{text}\n{error.__context__}" if "device-side assert" in text and error.__context__ else text
