"""Element types: XLA's and JAX's names, and how wide each is.

*Source*: `xla_data.proto` (PrimitiveType) and `jax.numpy` dtype names.
"""

from __future__ import annotations

_BITS = {
    "pred": 8, "bool": 8,
    "s1": 1, "s2": 2, "s4": 4, "s8": 8, "s16": 16, "s32": 32, "s64": 64,
    "u1": 1, "u2": 2, "u4": 4, "u8": 8, "u16": 16, "u32": 32, "u64": 64,
    "int2": 2, "int4": 4, "int8": 8, "int16": 16, "int32": 32, "int64": 64,
    "uint2": 2, "uint4": 4, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64,
    "f4e2m1fn": 4, "f8e3m4": 8, "f8e4m3": 8, "f8e4m3fn": 8, "f8e4m3b11fnuz": 8, "f8e4m3fnuz": 8,
    "f8e5m2": 8, "f8e5m2fnuz": 8, "f8e8m0fnu": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64,
    "float4_e2m1fn": 4, "float8_e3m4": 8, "float8_e4m3": 8, "float8_e4m3fn": 8,
    "float8_e4m3b11fnuz": 8, "float8_e4m3fnuz": 8, "float8_e5m2": 8, "float8_e5m2fnuz": 8,
    "float8_e8m0fnu": 8, "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64,
    "c64": 64, "c128": 128, "complex64": 64, "complex128": 128,
    "key<fry>": 64, "key<rbg>": 128, "key<urbg>": 128,
    "token": 0, "float0": 0,
}  # fmt: skip

_SHORT = {"bool": "pred", "bfloat16": "bf16", "complex64": "c64", "complex128": "c128"}


def bits_of(dtype: str) -> int | None:
    """Bits one element takes when packed, or None for a type this package does not know."""
    return _BITS.get(dtype.lower())


def short_dtype(dtype: str) -> str:
    """XLA's short name for a JAX dtype name: `float32` -> `f32`, `int4` -> `s4`; others are unchanged."""
    if dtype in _SHORT:
        return _SHORT[dtype]
    for long, short in (("uint", "u"), ("int", "s"), ("float", "f")):
        rest = dtype.removeprefix(long)
        if rest != dtype and rest[:1].isdigit():
            return short + rest.replace("_", "")
    return dtype
