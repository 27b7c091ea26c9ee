"""What becomes of a number in a floating-point type: 1 - 1e-8 is exactly 1 in float32."""

from __future__ import annotations

import struct
from typing import Final

LARGEST: Final = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}
# The distance from 1 to the next larger number.
RESOLUTION: Final = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
SMALLEST_NORMAL: Final = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}


def held(number: float, dtype: str | None) -> float:
    """The nearest number the type can hold; float32, the default of every framework, where the type is not known."""
    if dtype == "float64" or (dtype is not None and "int" in dtype):
        return number
    try:
        if dtype == "float16":
            return float(struct.unpack("e", struct.pack("e", number))[0])
        single = struct.pack("<f", number)
    except OverflowError:
        return number
    if dtype == "bfloat16":
        bits: int = struct.unpack("<I", single)[0]
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        single = struct.pack("<I", bits & 0xFFFFFFFF)
    return float(struct.unpack("<f", single)[0])
