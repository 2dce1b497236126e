"""Models on NVDLA, from ONNX to a session: bits of the dialect's references, near those of tri."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from small_networks import NETWORKS, Net
from test_target import computed, reference
from trivium.compiler.driver import build
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array
from trivium.passes.verify_values import VerifyValues
from trivium.runtime.dla.part import DESCRIPTION, DlaPart
from trivium.runtime.package import Package
from trivium.targets.choices import STRICT
from trivium.targets.dla.nvdla.choice import toml_text
from trivium.targets.dla.nvdla.configuration import FILE, find_configuration
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.phases import MEM_ALLOC, TENSOR_SCHED, Phase, PhaseInstrumentation
from trivium.targets.dla.registry import open_simulated
from trivium.targets.registry import choose_target

PHASES = (TENSOR_SCHED, MEM_ALLOC)
FLOAT_GAP = 1e-5
"""Smaller gaps are between floats that stand for the same byte."""
CONFIGURATIONS = ("nv_small", "nv_full")


class Interpreted(PhaseInstrumentation):
    """Execute the module after each phase, and keep what it gives."""

    def __init__(self, feeds: list[Array]) -> None:
        self.feeds = feeds
        self.found: list[Array] = []

    def leave(self, phase: Phase, attempt: int, module: Module) -> None:
        VerifyValues().run(module)
        self.found += run(module, self.feeds)


def quantized(name: str, folder: Path) -> tuple[onnx.ModelProto, Array]:
    """Return a network of integers, and an input."""
    net, file = Net(), folder / f"{name}.onnx"
    net.quantized(NETWORKS[name](net), file)
    return onnx.load(file), net.inputs(net.shape[0])


def interpreted(model: onnx.ModelProto, target: str, feeds: list[Array]) -> Array:
    """Return what the dialect's references compute, which must be the same after each phase."""
    with new_context():
        module = import_onnx(model)
        pipeline_for(target, 2).run(module)
        (placed,) = run(module, feeds)
        hook = Interpreted(feeds)
        choose_target(target).pipeline().run(module, print, hook, only=PHASES)
    assert len(hook.found) == len(PHASES)
    for found in hook.found:
        np.testing.assert_array_equal(found, placed)
    return placed


def loadables(package: Package) -> list[Loadable]:
    part = package.manifest.part(DlaPart)
    return [Loadable.read(bytes(package.entries[each.entry])) for each in part.loadables]


def one_step(found: Array, expected: Array) -> bool:
    """Report whether values are at most one step of their scale apart."""
    gaps = np.diff(np.unique(np.concatenate([found.ravel(), expected.ravel()])))
    steps = gaps[gaps > FLOAT_GAP]
    return bool(
        np.abs(found - expected).max() <= (steps.min() * 1.001 if steps.size else FLOAT_GAP)
    )


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_gives_the_bits_of_references_and_is_within_a_step_of_integers(
    name: str, configuration: str, tmp_path: Path
) -> None:
    model, x = quantized(name, tmp_path)
    target = f"nvdla:{configuration}"
    package = build(model, target=target, math=STRICT)
    found = computed(package, [x])
    # What the CPU makes of the bytes may differ in the last bit of a float.
    np.testing.assert_array_max_ulp(found, interpreted(model, target, [x]), 1)
    assert one_step(found, reference(model, [x]))
    programs = package.manifest.part(DlaPart).loadables
    assert programs
    assert {each.configuration for each in programs} == {configuration}
    for each in loadables(package):
        assert lint(each, find_configuration(configuration)) == ()


def test_another_configuration_is_a_file(tmp_path: Path) -> None:
    text = FILE.read_text().split("[nv_large]")[0]
    file = tmp_path / "wide.toml"
    file.write_text(
        text.replace("[nv_small]", "[nv_wide]")
        .replace("macs_kernels = 8", "macs_kernels = 16")
        .replace("atom = 8", "atom = 16")
        .replace("entry = 8", "entry = 16")
        .replace("banks = 32", "banks = 8")
    )
    model, x = quantized("residual", tmp_path)
    package = build(model, target=f"nvdla:{file}")
    found = computed(package, [x])
    np.testing.assert_array_equal(found, interpreted(model, f"nvdla:{file}", [x]))
    assert one_step(found, reference(model, [x]))
    assert b"[nv_wide]" in bytes(package.entries[DESCRIPTION])


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nvdla:nv_smal", "no configuration of NVDLA is called 'nv_smal', did you mean"),
        ("nvdla:nv_small+nv_full", "'nvdla' has one configuration, not several"),
        ("nvdla:none.toml", "none.toml: error: No such file"),
        (f"nvdla:{FILE}", "has configurations nv_small, nv_large, nv_full, must have one"),
    ],
    ids=["misspelt", "several", "no file", "file of several"],
)
def test_what_is_no_configuration_is_refused(target: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        choose_target(target)


def test_nv_large_has_other_banks_than_nv_full(tmp_path: Path) -> None:
    model, x = quantized("separable", tmp_path)
    package = build(model, target="nvdla:nv_large", math=STRICT)
    found = computed(package, [x])
    np.testing.assert_array_max_ulp(found, interpreted(model, "nvdla:nv_large", [x]), 1)
    assert one_step(found, reference(model, [x]))


def test_a_loadable_that_was_changed_is_refused(tmp_path: Path) -> None:
    model, _ = quantized("residual", tmp_path)
    package = build(model, target="nvdla:nv_small")
    (made,) = loadables(package)
    short = made.write()[:1000]
    with pytest.raises(CompileError, match=r"loadable, offset 0x\w+: .*the file has 0x3e8 bytes"):
        open_simulated("nvdla", toml_text(find_configuration("nv_small")), short, "loadable")
