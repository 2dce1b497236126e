"""Compiled kernels in the cache: equal groups are not lowered again, whatever else is."""

from functools import partial, wraps
from pathlib import Path

import onnx.parser
import pytest
import trivium
from trivium.dialects import tri
from trivium.dialects.core.machine import host_machine
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Tensor
from trivium.passes.pipeline import Instrumentation, Stage
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.package import Package
from trivium.targets.cache import VARIABLE
from trivium.targets.cpu.emit import compile as cpu_compile
from trivium.targets.cpu.emit import form, kernel_cache
from trivium.targets.cpu.emit.kernel_cache import CompiledKernel
from trivium.targets.cpu.emit.kernel_pipeline import code_pipeline, kernel_pipeline
from trivium.targets.cpu.kernels.conversion import widened
from trivium.targets.cpu.kernels.kernel_module import Kernel, Phase
from trivium.targets.cpu.lower import to_kernels
from trivium.targets.cpu.registry import TABLE
from trivium.targets.forks import map_here
from trivium.targets.kernels.kernel_table import Lowering
from trivium.targets.program.program import Scratch

MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    g (float[2, 3] x) => (float[2, 2] y) <float[3, 2] w = {1, 0, 0, 1, -1, -1}>
    { p = MatMul (x, w) q = Softmax (p) y = Relu (q) }"""
)


@pytest.fixture
def lowered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Use an empty cache, and list what is lowered."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setattr(cpu_compile, "map_forked", map_here)
    names: list[str] = []
    lower = to_kernels.lower_group

    def listed(group: tri.Group, *rest: object) -> object:
        names.append(str(group.location))
        return lower(group, *rest)  # pyright: ignore

    monkeypatch.setattr(to_kernels, "lower_group", listed)
    return names


def code_of(package: Package) -> dict[str, bytes]:
    return {name: bytes(data) for name, data in package.entries.items() if name.endswith(".o")}


def test_kernels_are_lowered_once(lowered: list[str]) -> None:
    cold = trivium.build(MODEL)
    count = len(lowered)
    warm = trivium.build(MODEL)
    assert count == len(lowered) == len(cold.manifest.part(CpuPart).kernels)
    assert code_of(warm) == code_of(cold)
    assert warm.manifest == cold.manifest


def test_strict_kernels_are_others(lowered: list[str]) -> None:
    trivium.build(MODEL)
    count = len(lowered)
    trivium.build(MODEL, math="strict")
    assert len(lowered) > count


def test_other_code_of_the_compiler_makes_other_kernels(
    lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trivium.build(MODEL)
    count = len(lowered)
    monkeypatch.setattr(kernel_cache, "compiler", lambda: "changed")
    trivium.build(MODEL)
    assert len(lowered) == 2 * count


def test_another_printer_of_c_prints_again(
    lowered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def printed() -> str:
        trivium.emit_c(MODEL, tmp_path / "c", machine="generic")
        return (tmp_path / "c/model.c").read_text()

    before, printer = printed(), form.print_kernel
    monkeypatch.setattr(form, "print_kernel", lambda *given: f"/* new */\n{printer(*given)}")
    assert printed() == before
    monkeypatch.setattr(kernel_cache, "compiler", lambda: "changed")
    count = len(lowered)
    assert printed().count("/* new */") == count


def test_lowerings_of_other_distributions_are_always_called(
    lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = TABLE.lowerings[tri.Softmax]

    def theirs(*operands: object) -> object:
        return ours.function(*operands)

    monkeypatch.setitem(TABLE.lowerings, tri.Softmax, Lowering(ours.kind, theirs))
    trivium.build(MODEL)
    del lowered[:]
    trivium.build(MODEL)
    assert len(lowered) == 1


def test_all_kernels_of_trivium_are_cached() -> None:
    lowerings = {op: lowering.function for op, lowering in TABLE.lowerings.items()}
    own = [op.op_name for op in lowerings if op.__module__.startswith("trivium.")]
    cached = [op.op_name for op, function in lowerings.items() if kernel_cache.is_own(function)]
    assert {tri.Sigmoid, tri.Hardswish, tri.Exp} <= set(lowerings)
    assert cached == own


def theirs(*operands: object) -> object:
    return operands


@pytest.mark.parametrize(
    "code",
    [
        theirs,
        partial(theirs, 1),
        partial(kernel_cache.source_of, structure=theirs),
        partial(partial(kernel_cache.source_of, theirs), recipe=""),
        wraps(kernel_cache.source_of)(lambda *operands: theirs(*operands)),
        widened(partial(theirs)),
    ],
)
def test_functions_that_bind_those_of_other_distributions_are_theirs(code: object) -> None:
    assert not kernel_cache.is_own(code)


class Passes(Instrumentation):
    def __init__(self) -> None:
        self.names: list[str] = []

    def after(self, stage: Stage, module: Module) -> None:
        self.names.append(stage.name)


def test_hooks_see_the_passes_on_kernels_that_are_in_the_cache(lowered: list[str]) -> None:
    cold = trivium.build(MODEL)
    passes = Passes()
    watched = trivium.build(MODEL, hooks=[passes])
    kernels = len(cold.manifest.part(CpuPart).kernels)
    machine = host_machine()
    wanted = [
        stage.name
        for pipeline in (kernel_pipeline(machine, False), code_pipeline(machine, False))
        for stage in pipeline.stages()
    ]
    assert passes.names[-kernels * len(wanted) :] == wanted * kernels
    assert not set(wanted) & set(passes.names[: -kernels * len(wanted)])
    assert code_of(watched) == code_of(cold)


def test_a_compiled_kernel_is_written_as_it_is_read() -> None:
    scratch = (Scratch(Tensor((2, 3), "f32")), Scratch(Tensor((), "i8"), private=True))
    made = CompiledKernel(Kernel("k", scratch, (Phase(3, 4), Phase())), b"code\n\0more")
    assert CompiledKernel.from_bytes(made.to_bytes()) == made
