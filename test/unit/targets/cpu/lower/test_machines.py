"""What code for a machine holds: no instruction that it lacks, no call of a compiler's library."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from cpu_kernels import compile_cases, lower, object_of, runs_here
from groups import Case, build_group
from test_lower_products import convolutions, panels, winograd
from trivium.dialects import tri
from trivium.dialects.core.machine import LEVELS, Machine, host_machine
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.tensor import Array, Tensor
from trivium.runtime.cpu.objectfile import ObjectFile

RANDOM = np.random.default_rng(5)
HALVES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}

SSE3_TO_SSE4 = (
    r"haddp|hsubp|addsub|movs[hl]dup|lddqu|pshufb|palignr|phadd|pabs|psign|pmulhrsw|\w?blend|dpp"
    r"|extractps|insertps|p(extr|insr)[bdq]|pmov[sz]x|pmul(ld|dq)|pm(ax|in)(s[bd]|u[wd])|ptest"
    r"|round|packusdw|pcmp(eq|gt)q|pcmp[ei]str|popcnt|crc32"
)
VEX, EVEX = "c[45]", "62"
"""How instructions of AVX and of AVX-512 begin; FMA is one of the former."""

# For each level, what begins an instruction that it lacks, how that is spelt, and what it has.
LACKING = {
    "x86-64": (f"{VEX}|{EVEX}", SSE3_TO_SSE4, "xmm"),
    "x86-64-v2": (f"{VEX}|{EVEX}", "never", "pmulld"),
    "x86-64-v3": (EVEX, "never", "vfmadd.*ymm"),
    "x86-64-v4": ("never", r"vp?dp|vpopcnt|vgf2p8|v?vcvtne|vpsh[lr]d|vperm[it]?2?b|amx", "zmm"),
}


def mixed() -> list[Case]:
    """Sums, functions, masks, gathers and conversions, of floats, halves and integers."""
    x = RANDOM.standard_normal((3, 35)).astype(np.float32)
    made = [
        Case("f", op, (x,))
        for op in (tri.Exp, tri.Tanh, tri.Sin, tri.Gelu, tri.Floor, tri.Round, tri.Softmax)
    ]
    made += [
        Case("f", tri.Cast, (x.astype(a),), {"to": b})
        for a, b in ((np.float32, "i8"), (np.int64, "f32"), (np.float64, "f16"), (np.int32, "f16"))
    ]
    made += [Case(name, tri.Add, (x.astype(t), x.astype(t))) for name, t in HALVES.items()]
    made.append(Case("i", tri.Mul, (x.astype(np.int32), x.astype(np.int32))))
    made.append(Case("f", tri.Gather, (x, RANDOM.integers(0, 35, (2, 9))), {"axis": 1}))
    made.append(Case("f", tri.Transpose, (x,), {"permutation": (1, 0)}))
    return [*made, *convolutions()[::14], *panels()[::14], *winograd()[::6]]


@cache
def code_for(machine: Machine) -> bytes:
    """Return one object of all of these."""
    with new_context(), ir.Location.unknown():
        kernels = [lower(build_group(case), machine) for case in mixed()]
    return object_of(kernels, machine)


@pytest.mark.parametrize("machine", LEVELS, ids=[machine.name for machine in LEVELS])
def test_code_keeps_to_the_instructions_of_its_machine(machine: Machine, tmp_path: Path) -> None:
    objdump = shutil.which("objdump")
    if objdump is None:
        pytest.skip("objdump of binutils is not installed")
    path = tmp_path / "kernels.o"
    path.write_bytes(code_for(machine))
    listing = subprocess.run([objdump, "-d", "-w", path], capture_output=True, text=True).stdout
    begins, lacking, has = LACKING[machine.name]
    lines = re.findall(r"^ *[0-9a-f]+:\t([0-9a-f ]+)\t(.*)$", listing, re.MULTILINE)
    assert len(lines) > 1000
    beyond = [
        text for code, text in lines if re.match(begins, code) or re.match(f"({lacking})", text)
    ]
    assert not beyond
    assert any(re.search(has, text) for _, text in lines)


@pytest.mark.parametrize("machine", LEVELS, ids=[machine.name for machine in LEVELS])
def test_code_calls_the_c_library_only(machine: Machine) -> None:
    code = ObjectFile.read("kernels", memoryview(code_for(machine)))
    called = {s.name for s in code.symbols if s.name and not s.defined}
    mathematics = {"sinf", "cosf", "floor", "floorf", "roundeven", "roundevenf", "trunc", "truncf"}
    assert called <= mathematics | {"memcpy", "memset"}


def test_what_a_mask_leaves_out_is_not_loaded() -> None:
    """Rows of 17 outputs, two inputs apart, end within a vector; behind them is a forbidden page.

    LLVM makes plain loads of such masked ones, unless it does not know what the masks are.
    """
    machine = next(m for m in LEVELS if m.name == "x86-64-v3")
    if not runs_here(machine):
        pytest.skip("this CPU lacks AVX2 or FMA")
    x, w = (RANDOM.integers(-3, 4, s).astype(np.float32) for s in ((2, 3, 9, 33), (5, 3, 3, 3)))
    attributes = {"strides": (2, 2), "pads": (1, 1, 1, 1), "dilations": (1, 1)}
    case = Case("ends", tri.Conv, (x, w, np.zeros(5, np.float32)), attributes)
    (wanted,) = case.reference()
    (made,) = compile_cases([case], machine).run(0, case.inputs, [Tensor.of(wanted)])
    np.testing.assert_array_equal(made, wanted)


def every_half() -> Array:
    return np.arange(2**16, dtype=np.uint16).view(np.float16)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_halves_convert_without_an_instruction_for_it() -> None:
    baseline = LEVELS[0]
    halves = every_half()
    with np.errstate(all="ignore"):
        near = halves.astype(np.float32)
        steps = [near, np.nextafter(near, np.float32(9e9)), np.nextafter(near, np.float32(-9e9))]
        ties = (near + np.nextafter(halves, np.float16(np.inf)).astype(np.float32)) / 2
    edges = np.array([65519.996, 65520, 1e30, 2.0**-25, 2.0**-25 * 1.0001, 1e-45], np.float32)
    floats = np.concatenate([*steps, ties, edges, -edges])
    cases = [
        Case("wide", tri.Cast, (halves,), {"to": "f32"}),
        Case("half", tri.Cast, (floats,), {"to": "f16"}),
    ]
    compiled = compile_cases(cases, baseline)
    (wide,) = compiled.run(0, [halves], [Tensor.of(near)])
    np.testing.assert_array_equal(wide, near)
    np.testing.assert_array_equal(np.signbit(wide), np.signbit(near))
    (half,) = compiled.run(1, [floats], [Tensor.of(floats.astype(np.float16))])
    np.testing.assert_array_equal(half, floats.astype(np.float16))
    np.testing.assert_array_equal(np.signbit(half), np.signbit(floats))


def test_the_wrapper_of_a_kernel_holds_no_second_copy_of_it() -> None:
    with new_context(), ir.Location.unknown():
        kernel = lower(build_group(mixed()[1]), host_machine())
    code = ObjectFile.read("kernel", memoryview(object_of([kernel], host_machine())))
    starts = {s.name: s for s in code.symbols if s.section is not None}
    own, wrapper = starts[kernel.symbol], starts[f"_mlir_{kernel.symbol}"]
    assert own.section is not None
    end = code.sections[own.section].size
    assert own.value < wrapper.value
    assert end - wrapper.value < (wrapper.value - own.value) / 4
