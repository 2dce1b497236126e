"""Replace operations without an instruction on a machine, for which LLVM would call a library.

Kernels are emitted as if every machine had all of AVX-512; legalization fits them to lesser ones.
"""

from collections.abc import Callable

from ....dialects.core.machine import NATIVE, Machine, find_machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, operations
from ....passes.core import Pass
from ..kernels.index import index_of
from ..kernels.kernel_module import kernel_modules
from ..kernels.value import Value, arith, constant_of, element_type, llvm, vector

LARGEST_HALF = 0x47800000
"""The least f32 that is above all f16, as bits."""

LEAST_NORMAL_HALF = 0x38800000
"""The least f32 that is a normal f16, as bits."""

INFINITE_HALF = 0x7C00

MANY = 1024
"""More elements than any vector has."""


class LegalizeKernels(Pass):
    """Replace the ops of kernels for which a machine has no instruction.

    math.fma %a, %b, %c         =>   product, sum, and product's error    without FMA
    arith.extf, arith.truncf    =>   integer arithmetic on f16            without F16C
    llvm.ldexp %x, %n           =>   two products with powers of two      without AVX-512
    """

    machine: str = NATIVE

    def run(self, module: Module) -> None:
        for kernel in kernel_modules(module):
            legalize(kernel.operation, find_machine(self.machine))


def legalize(module: ir.Operation, machine: Machine) -> None:
    """Replace the ops in a module for which a machine has no instruction, in place."""
    lacking: dict[str, Callable[[ir.Operation], Value | None]] = {}
    if not machine.fuses:
        lacking["math.fma"] = _compensated
    if "f16c" not in machine.features:
        lacking |= {"arith.extf": _extend_half, "arith.truncf": _truncate_to_half}
    if "avx512f" not in machine.features:
        lacking["llvm.call_intrinsic"] = _scale
    for operation in list(operations(module)) if lacking else []:
        if operation.name not in lacking:
            continue
        with ir.InsertionPoint(operation), operation.location:
            made = lacking[operation.name](operation)
        if made is not None:
            operation.results[0].replace_all_uses_with(made.ssa)
            operation.erase()


class HideMasks(Pass):
    """Hide constant masks of loads in kernels from LLVM, which would widen some of the loads.

    For AVX2, LLVM 24.0.0git turns some loads with a constant mask, of which not all elements are
    used, into plain ones: these read masked-off elements, and memory past the end of a page.
    A convolution of stride 2 whose rows end within a vector is an example.

        vector.maskedload %x[%i], %m   =>   vector.maskedload %x[%i], (arith.andi %m, %all)

    where `%all` are the first elements, more of them than there are.
    """

    machine: str = NATIVE

    def run(self, module: Module) -> None:
        for kernel in kernel_modules(module):
            hide_masks(kernel.operation, find_machine(self.machine))


def hide_masks(module: ir.Operation, machine: Machine) -> None:
    """Hide the constant masks of loads in a module from LLVM, for a machine with AVX2."""
    if "avx" not in machine.features or "avx512f" in machine.features:
        return
    for function in module.regions[0].blocks[0].operations:
        loads = [op for op in operations(function.operation) if op.name == "vector.maskedload"]
        if not loads:
            continue
        entry = ir.InsertionPoint.at_block_begin(function.operation.regions[0].blocks[0])
        with entry, ir.Location.unknown():
            many = constant_of(MANY, "i64")
            count = index_of(Value(llvm.inline_asm(many.type, [many], "", "=r,0"), "i64"))
        for load in loads:
            mask = load.operands[-2]
            with ir.InsertionPoint(load), load.location:
                masked = arith.andi(mask, vector.create_mask(mask.type, [count.ssa]))
            load.operands[len(load.operands) - 2] = masked


def _compensated(operation: ir.Operation) -> Value:
    """Add the rounding error of a product of f64 to it: exact where product and term cancel.

    Source: Dekker, A floating-point technique for extending the available precision, 1971.
    """
    x, factor, term = (Value(value, "f64") for value in operation.operands)
    product = x * factor
    (a, b), (c, d) = _halves(x), _halves(factor)
    first = a * c - product
    error = b * d + (a * d + b * c + first)
    return product + term + error


def _halves(x: Value) -> tuple[Value, Value]:
    """Split an f64 in two parts of so few bits that their products are exact."""
    scaled = x * (2.0**27 + 1)
    high = scaled - (scaled - x)
    return high, x - high


def _scale(operation: ir.Operation) -> Value | None:
    """Multiply twice by half the power, which is normal where the power itself may not be.

    Holds for powers from -252 to 254; the result is rounded once.
    """
    if not str(operation.attributes["intrin"]).startswith('"llvm.ldexp.'):
        return None
    x, power = Value(operation.operands[0], "f32"), Value(operation.operands[1], "i32")
    low = power.shift_right(1)
    return x * _power_of_two(low) * _power_of_two(power - low)


def _power_of_two(n: Value) -> Value:
    return (n + 127).shift_left(23).bits("f32")


def _extend_half(operation: ir.Operation) -> Value | None:
    """Widen f16 to f32: as if it were an f32 with that many bits less, then put the exponent right.

    The product is exact, that of denormals included; infinity and NaN get the largest exponent.
    """
    (half,) = operation.operands
    if _element(half.type) != element_type("f16"):
        return None
    bits = _zero_extended(Value(half, "f16").bits("ui16"))
    magnitude = bits.logical_and(bits.like(0x7FFF))
    wide = magnitude.shift_left(13)
    finite = (wide.bits("f32") * 2.0**112).bits("ui32")
    other = wide.logical_or(wide.like(0x7F800000))
    chosen = magnitude.less(INFINITE_HALF).select(finite, other)
    return chosen.logical_or((bits - magnitude).shift_left(16)).bits("f32")


def _truncate_to_half(operation: ir.Operation) -> Value | None:
    """Round f32 to the nearest f16, ties to even.

    Denormals are rounded by the addition of a number whose last bit is that of the least of them.
    """
    if _element(operation.results[0].type) != element_type("f16"):
        return None
    bits = Value(operation.operands[0], "f32").bits("ui32")
    magnitude = bits.logical_and(bits.like(0x7FFFFFFF))
    odd = magnitude.shift_right(13).logical_and(bits.like(1))
    normal = (magnitude + odd - (112 << 23) + 0xFFF).shift_right(13)
    half = bits.like(0x3F000000)
    denormal = (magnitude.bits("f32") + half.bits("f32")).bits("ui32") - half
    infinite = magnitude.greater(0x7F800000).select(bits.like(0x7E00), INFINITE_HALF)
    made = magnitude.less(LEAST_NORMAL_HALF).select(denormal, normal)
    made = magnitude.less(LARGEST_HALF).select(made, infinite)
    made = made.logical_or((bits - magnitude).shift_right(16))
    return Value(arith.trunci(made.shaped("ui16"), made.ssa), "ui16").bits("f16")


def _zero_extended(value: Value) -> Value:
    return Value(arith.extui(value.shaped("ui32"), value.ssa), "ui32")


def _element(type_: ir.Type) -> ir.Type:
    return type_.element_type if isinstance(type_, ir.VectorType) else type_
