"""The kernels that check where their tensors are, against those that the installed torch would be built with."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from sleuth.dry.births import Argument, Birth, Call
from sleuth.dry.pretend import errors_of_place

pytest.importorskip("yaml")


@cache
def wrappers() -> dict[str, list[str]]:
    """The tensors each wrapper of the CUDA build checks, in order; made as torchgen makes them."""
    import torchgen
    from torchgen import gen
    from torchgen.api.types import DispatcherSignature, NativeSignature
    from torchgen.model import DeviceCheckType, DispatchKey, NativeFunction, NativeFunctionsGroup

    folder = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    parsed = gen.parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    kernels = parsed.backend_indices[DispatchKey.CUDA]
    found: dict[str, list[str]] = {}

    def add(function: NativeFunction, structured: bool) -> None:
        if function.device_check == DeviceCheckType.NoCheck:
            return
        schema = function.func
        if structured:
            name = NativeSignature(schema, prefix="wrapper_CUDA_", symint=True).name()
        else:
            name = DispatcherSignature.from_schema(schema, prefix=f"wrapper_CUDA_{schema.name.overload_name}_").name()
        arguments = [*schema.arguments.out, *schema.arguments.flat_positional]
        found[name] = [one.name for one in arguments if one.type.is_tensor_like()]

    for one in gen.get_grouped_native_functions(parsed.native_functions):
        if isinstance(one, NativeFunctionsGroup):
            for function in one.functions():
                if (one.structured and kernels.has_kernel(one.out)) or kernels.has_kernel(function):
                    add(function, one.structured)
        elif kernels.has_kernel(one):
            add(one, False)
    return found


def kernels() -> dict[str, errors_of_place._Kernel]:
    table = dict(errors_of_place._kernels())
    cases = {
        "linear": [(4, 3), (2, 3), (2,)],
        "linear without bias": [(4, 3), (2, 3)],
        "matmul": [(4, 3), (3, 2)],
        "matmul of batches": [(1, 4, 3), (1, 3, 2)],
        "matmul of vectors": [(3,), (3,)],
        "matmul by a vector": [(4, 3), (3,)],
        "cross_entropy of pictures": [(1, 2, 3, 3), (1, 3, 3)],
        "scatter by a number": [(3,)],
        "batch_norm here": [(3, 3)],
        "einsum": [(3, 3), (3, 3)],
    }
    for name, shapes in cases.items():
        arguments = [Argument(str(i), Birth("x", shape, "float32", "cpu")) for i, shape in enumerate(shapes)]
        (table[name],) = errors_of_place._kernels_of(Call(name.partition(" ")[0], tuple(arguments)))
    return table


@pytest.mark.parametrize("operation", kernels())
def test_a_kernel_checks_what_torch_has_it_check(operation: str) -> None:
    kernel = kernels()[operation]
    real = wrappers()[f"wrapper_CUDA_{kernel.wrapper}"]
    names = [name for name, _ in kernel.checks]
    assert names == [name for name in real if name in names]
    unknown = {source for _, source in kernel.checks} - set(kernel.signature)
    assert not unknown
