"""Descriptions drawn at random: networks give the bits of integers, whatever the numbers are."""

import functools
import tempfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from drawn_descriptions import drawn_text
from drawn_ops import RULES, Drawn
from small_networks import NETWORKS, Net
from test_many_ops import joined
from trivium.compiler.driver import build
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.tensor import Array
from trivium.passes.eliminate import Eliminate
from trivium.passes.pipeline import Pipeline
from trivium.passes.quantize.expose_storage import ExposeStorage
from trivium.passes.quantize.lower_quantized import LowerQuantized
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.targets.dla.core import container
from trivium.targets.dla.core.description import Description
from trivium.targets.dla.core.disassembly import assemble, disassemble
from trivium.targets.dla.core.listing import listing, read_listing
from trivium.targets.dla.core.packet import InstructionSet
from trivium.targets.dla.core.toml_file import parse_description
from trivium.targets.dla.registry import open_device
from trivium.targets.dla.vanilla.packets import CLASSES

DESCRIPTIONS, OPS = 40, 6
WHOLE = [name for name in NETWORKS if name != "signal"]
"""Networks of integers; a signal ends in a function of floats."""


@functools.cache
def network(name: str) -> tuple[onnx.ModelProto, Array]:
    """Return a small network, quantised, with an input."""
    with tempfile.TemporaryDirectory() as folder:
        net, file = Net(), Path(folder) / "q.onnx"
        net.quantized(NETWORKS[name](net), file)
        return onnx.load(file), net.inputs(net.shape[0])


def ops(seed: int) -> tuple[onnx.ModelProto, list[Array]]:
    """Return a model of some ops side by side, with inputs."""
    names = list(RULES)
    drawn = [Drawn(50_000 + seed * OPS + each) for each in range(OPS)]
    model = joined([d.model(RULES[names[d.seed % len(names)]]) for d in drawn])
    return model, [feed for d in drawn for feed in d.feeds()]


def expected(
    model: onnx.ModelProto, feeds: list[Array], description: Description
) -> tuple[Array, ...]:
    """Return what the graph of integers computes, before anything is selected."""
    lower = LowerQuantized(description.rounding, description.multiplier_bits)
    with new_context():
        module = import_onnx(model)
        Pipeline((Eliminate(), lower, ExposeStorage(), Eliminate())).run(module)
        return run(module, feeds)


def computed(package: Package, feeds: list[Array], seed: int | None = None) -> list[Array]:
    """Return what a package computes; with a seed, packets run in an order that waits allow."""
    given = dict(zip((port.name for port in package.manifest.inputs), feeds, strict=True))
    drivers = {"vanilla": lambda text, data, sizes: open_device(text, data, seed=seed, sizes=sizes)}
    return list(Session(package, threads=1, drivers=drivers).run(given).values())


@pytest.mark.parametrize("seed", range(DESCRIPTIONS))
def test_a_drawn_description_gives_the_bits_of_integers(seed: int, tmp_path: Path) -> None:
    text = drawn_text(seed)
    file, description = tmp_path / "drawn.toml", parse_description(text)
    file.write_text(text)
    whole, image = network(WHOLE[seed % len(WHOLE)])
    for model, feeds in ((whole, [image]), ops(seed)):
        package = build(model, target=f"vanilla:{file}")
        wanted = expected(model, feeds, description)
        for order in (None, seed):
            for one, other in zip(computed(package, feeds, order), wanted, strict=True):
                np.testing.assert_array_equal(one, other)
        for step in package.manifest.steps:
            if step.kind == "dla":
                check_text(InstructionSet(description, CLASSES), bytes(package.entries[step.entry]))


def check_text(instructions: InstructionSet, data: bytes) -> None:
    """Take a container apart, as packets and as a whole; the same bytes must come of its text."""
    loaded = container.load(instructions, data)
    assert assemble(instructions, disassemble(instructions, loaded.code)) == loaded.code
    again = read_listing(instructions, listing(instructions, loaded))
    assert container.save(instructions.description, *again) == data
