"""What there is to know of an operation of torch before it is called."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from sleuth.frameworks import torch_private

_has_kernel = torch_private.get("torch._C._dispatch_has_kernel_for_dispatch_key")

# Touch no number although their schema does not say so.
_STRUCTURAL = frozenset(
    """_unsafe_view set_ resize_ resize_as_ lift lift_fresh alias detach_ _fw_primal _make_dual is_pinned record_stream
    is_same_size _has_same_storage_numel sym_size sym_stride sym_numel sym_storage_offset""".split()
)
# Their numbers do not depend on the numbers of what they are given.
_SHAPE_ONLY = frozenset(
    """empty_like zeros_like ones_like full_like rand_like randn_like randint_like new_empty new_zeros new_ones new_full
    new_empty_strided""".split()
)
# What they make can be much larger than what they are given.
_GROWING = frozenset(
    """repeat constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d
    replication_pad3d col2im im2col max_unpool2d max_unpool3d diag_embed repeat_interleave new_zeros new_ones new_full
    new_empty new_empty_strided""".split()
)
# Talk to other processes or to the profiler; they are pretended elsewhere.
_NOT_NUMBERS = frozenset("c10d _c10d_functional _c10d_functional_autograd profiler inductor debugprims streams".split())


@dataclass(frozen=True, slots=True)
class Operation:
    """`changed` are the positions and names of the arguments it writes into."""

    name: str
    structural: bool
    composite: bool
    shape_only: bool
    growing: bool
    exact_floats: bool
    changed: tuple[tuple[int, str], ...]


@cache
def of(func: Any) -> Operation:
    schema = func._schema
    name = func.__name__.partition(".")[0]
    writes = tuple(
        (position, argument.name)
        for position, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )
    reads = any(argument.alias_info is not None and not argument.alias_info.is_write for argument in schema.arguments)
    returns_alias = any(result.alias_info is not None for result in schema.returns)
    return Operation(
        name=name,
        structural=(reads and returns_alias)
        or name in _STRUCTURAL
        or func.namespace in _NOT_NUMBERS
        or torch.Tag.inplace_view in func.tags,
        composite=func._can_decompose() and _has_kernel(func.name(), "CompositeImplicitAutograd"),
        shape_only=name in _SHAPE_ONLY,
        growing=name in _GROWING or "upsample" in name,
        # A scale of 1.5 or a step of 0.1 decides a shape; a learning rate does not.
        exact_floats="upsample" in name or not any("Tensor" in str(argument.type) for argument in schema.arguments),
        changed=writes,
    )


def changed_tensors(operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors this call writes into."""
    found: list[torch.Tensor] = []
    for position, name in operation.changed:
        value = args[position] if position < len(args) else kwargs.get(name)
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [one for one in value if isinstance(one, torch.Tensor)]
    return found


def tensors_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """All tensors among the arguments, those in lists included."""
    found: list[torch.Tensor] = []
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [one for one in value if isinstance(one, torch.Tensor)]
    return found
