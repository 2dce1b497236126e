"""Repairs of Triton's interpreter: bf16, floats of 8 bits, bools and, in 3.6, new numpys.

Imported in the process that interprets, after Triton. Without it a product of bf16 matrices
multiplies their bits, a conversion to bf16 cuts digits off where GPUs round to nearest even, there
are no constants of bf16, floats of 8 bits that are subnormal or NaN become other numbers, and a
comparison of scalars is no bool beside a tile.
"""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import triton
import triton.language as tl
from triton.runtime import interpreter

BUILDER = interpreter.InterpreterBuilder
CONVERSIONS = (
    "create_si_to_fp",
    "create_ui_to_fp",
    "create_fp_ext",
    "create_fp_trunc",
    "create_fp_to_si",
    "create_fp_to_ui",
)
ARITHMETIC = (
    *("fadd", "fsub", "fmul", "fdiv", "frem", "fma", "fneg", "fabs", "precise_divf"),
    *("minimumf", "maximumf", "minnumf", "maxnumf", "clampf"),
    *("exp", "exp2", "log", "log2", "sqrt", "precise_sqrt", "rsqrt", "sin", "cos", "erf"),
    *("floor", "ceil"),
)

FLOAT8 = {tl.float8e4nv: ml_dtypes.float8_e4m3fn, tl.float8e5: ml_dtypes.float8_e5m2}


def repair() -> None:
    """Mend what this version of Triton needs."""
    _repair_comparisons()
    _repair_bfloat16()
    _repair_float8()
    if triton.__version__.startswith("3.6."):
        _repair_indices()


def _repair_indices() -> None:
    """Let scalars, which are arrays of one element, be bounds of a range: triton issue 9171."""
    patch = interpreter._patch_lang_tensor

    def patch_tensor(tensor: Any, scope: Any) -> None:
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.squeeze()))

    interpreter._patch_lang_tensor = patch_tensor


def _repair_bfloat16() -> None:
    convert, multiply = BUILDER.cast_impl, BUILDER.create_dot

    def cast_impl(self: Any, source: Any, target: Any) -> Any:
        have, want = source.dtype.scalar, target.scalar
        if tl.bfloat16 not in (have, want) or have == want:
            return convert(self, source, target)
        plain = _widened(source) if have == tl.bfloat16 else source
        if want == tl.float32:
            return plain
        if want == tl.bfloat16:
            return _rounded(convert(self, plain, tl.float32))
        return convert(self, plain, target)

    def create_dot(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        return multiply(self, _widened(a), _widened(b), *rest)

    def get_bf16(self: Any, value: float) -> Any:
        return _rounded(interpreter.TensorHandle(np.array([value], np.float32), tl.float32))

    BUILDER.get_bf16 = get_bf16
    BUILDER.cast_impl = cast_impl
    BUILDER.create_dot = create_dot
    for name in CONVERSIONS:
        if hasattr(BUILDER, name):
            setattr(BUILDER, name, lambda self, source, target: self.cast_impl(source, target))
    comparisons = [name for name in dir(BUILDER) if name.startswith("create_fcmp")]
    for name in (*(f"create_{each}" for each in ARITHMETIC), *comparisons):
        if hasattr(BUILDER, name):
            setattr(BUILDER, name, _in_float32(getattr(BUILDER, name)))


def _repair_float8() -> None:
    convert, multiply = BUILDER.create_fp_to_fp, BUILDER.create_dot

    def create_fp_to_fp(self: Any, source: Any, target: Any, rounding: Any) -> Any:
        if source.dtype.scalar not in FLOAT8:
            return convert(self, source, target, rounding)
        return self.cast_impl(_decoded(source), target)

    def create_dot(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        return multiply(self, _decoded(a), _decoded(b), *rest)

    BUILDER.create_fp_to_fp = create_fp_to_fp
    BUILDER.create_dot = create_dot


def _decoded(handle: Any) -> Any:
    """Return floats of 8 bits, which the interpreter keeps as bits, as f32."""
    kind = FLOAT8.get(handle.dtype.scalar)
    if kind is None:
        return handle
    return interpreter.TensorHandle(handle.data.view(kind).astype(np.float32), tl.float32)


def _repair_comparisons() -> None:
    """Let comparisons make bools: what is compared decides else what a scalar is spread as."""
    for name in dir(BUILDER):
        if name.startswith(("create_fcmp", "create_icmp")):
            setattr(BUILDER, name, _making_bools(getattr(BUILDER, name)))


def _making_bools(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: interpreter.TensorHandle(function(*operands).data, tl.int1)


def _in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    def compute(self: Any, *operands: Any) -> Any:
        if not any(_is_bfloat16(operand) for operand in operands):
            return function(self, *operands)
        made = function(self, *map(_widened, operands))
        return _rounded(made) if made.data.dtype == np.float32 else made

    return compute


def _is_bfloat16(handle: Any) -> bool:
    return isinstance(handle, interpreter.TensorHandle) and handle.dtype.scalar == tl.bfloat16


def _widened(handle: Any) -> Any:
    """Return bf16, which the interpreter keeps as bits, as f32."""
    if not _is_bfloat16(handle):
        return handle
    bits = handle.data.astype(np.uint32) << 16
    return interpreter.TensorHandle(bits.view(np.float32), tl.float32)


def _rounded(handle: Any) -> Any:
    """Return f32 as the bits of the nearest bf16, of two equally near ones the even one."""
    values = np.ascontiguousarray(handle.data, np.float32)
    bits = values.view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    nearest = np.where(np.isnan(values), np.uint16(0x7FC0), rounded)
    return interpreter.TensorHandle(nearest, tl.bfloat16)
