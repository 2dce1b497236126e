"""A backend of another distribution with types, layouts, a memory and a context of its own.

It computes on f16 with channels last in its own memory: three casts are inserted at its borders, of
place, type and layout, and cancel between its ops. What it decides when a model is compiled, how
many elements a turn has, is in the package, and what runs it has a state of its own. The device may
be of several cards, each of which has every other stripe of the memory and computes what it has.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

TRIVIUM = [sys.executable, "-m", "trivium.tools.main"]

MODEL = """
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[1, 6, 5, 3] x, float[1, 6, 5, 3] z) => (float[1, 6, 5, 3] y) {
        [sum] a = Add (x, z)
        [clip] b = Relu (a)
        [exponent] c = Exp (b)
        [double] d = Add (c, x)
        [last] y = Relu (d)
    }
"""

TARGET = '''

from trivium.dialects import tri
from trivium.dialects.core.attributes import tensor_of
from trivium.dialects.core.location import node_names
from trivium.dialects.core.module import ops
from trivium.passes.core import Pass
from trivium.passes.eliminate import Eliminate
from trivium.passes.rewriting import NoMatch, Pattern, rewrite
from trivium.targets.compiled import CompiledPart
from trivium.targets.core import Target
from trivium.targets.element_types import ElementTypes
from trivium.targets.lowering_table import LoweringTable
from trivium.targets.memory.space import MemorySpace

from .runtime import HalfPart, HalfStep

TABLE = LoweringTable("half", ElementTypes(["f16"]))
TABLE.lowers(tri.Add)("add")
TABLE.lowers(tri.Relu)("relu")
TABLE.lowers(tri.Cast, types=ElementTypes(["f16", "f32"]))("cast")
TABLE.lowers(tri.Transpose)("transpose")
LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


class ToHalf(Pass):
    """Compute on f16 with channels last.

    %y = tri.relu %x   =>   %y = casts to f32 and channels first of tri.relu of casts of %x
    """

    def run(self, module):
        rewrite(module, _Half(tri.Relu), _Half(tri.Add))


class _Half(Pattern):
    def __init__(self, root):
        self.root = root

    def rewrite(self, op, rewriter):
        tensors = [tensor_of(v.type) for v in op.operation.operands]
        if any(t.dtype != "f32" or t.rank != 4 or t != tensors[0] for t in tensors):
            raise NoMatch("is no op on images of f32 of one shape")
        with rewriter.before(op):
            given = [tri.Cast.build(v, to="f16").y for v in op.operation.operands]
            given = [tri.Transpose.build(v, permutation=LAST).y for v in given]
            made = type(op).build(*given).results[0]
            made = tri.Transpose.build(made, permutation=FIRST).y
            rewriter.replace(op, tri.Cast.build(made, to="f32"))


class CancelCasts(Pass):
    """Drop casts that undo the cast before.

    %y = cast (cast %x to f32) to f16   =>   %x
    """

    def run(self, module):
        rewrite(module, _Pairs(tri.Cast), _Pairs(tri.Transpose))
        Eliminate().run(module)


class _Pairs(Pattern):
    def __init__(self, root):
        self.root = root

    def rewrite(self, op, rewriter):
        inner = rewriter.producer(op.x, type(op))
        if inner.x.type != op.results[0].type:
            raise NoMatch("has another type or order than at first")
        if isinstance(op, tri.Cast) and tensor_of(op.results[0].type).dtype != "f16":
            raise NoMatch("loses nothing")
        rewriter.replace(op, [inner.x])


class HalfTarget(Target):
    fallbacks = ("cpu",)
    boundary_ops = (tri.Cast, tri.Transpose)

    def passes(self, opt_level, options=None):
        return (ToHalf(), CancelCasts())

    def kernel_refusal(self, members):
        return f"{self.name} runs one op at a time"

    def compile(self, module, options):
        return HalfCode()


class HalfCode(CompiledPart):
    def steps(self, calls, buffers):
        return [self._step(call.op, buffers) for _, call in calls]

    def part(self, program):
        return HalfPart(lanes=LANES)

    def _step(self, group, buffers):
        op = next(each for each in ops(group.block) if type(each) in TABLE.lowerings)
        inner = dict(zip(group.block.arguments, group.operation.operands, strict=True))
        memory = TARGET.memory.name
        return HalfStep(
            instruction=TABLE.lowerings[type(op)],
            perm=tuple(getattr(op, "permutation", ())),
            operands=tuple(buffers.number(inner[v], memory) for v in op.operation.operands),
            results=tuple(buffers.number(v, memory) for v in group.results),
            nodes=node_names(group.location),
        )


LANES = 16
TARGET = HalfTarget("half", MemorySpace("halfbank", alignment=32), TABLE)
'''

RUNTIME = """
import ctypes
import os
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trivium.runtime.contents import PROCESS, Part
from trivium.runtime.errors import PackageError
from trivium.runtime.memory_space import PackageMemory, SessionMemory
from trivium.runtime.report import PartReport
from trivium.runtime.step import Step

BANK = "halfbank"
CARDS, STRIPE = int(os.environ.get("CARDS", "1")), 32
INSTRUCTIONS = {"add": np.add, "relu": lambda x: np.maximum(x, np.float16(0))}


class HalfSession(SessionMemory):
    def __init__(self, arena_bytes, bases):
        arena, constants = bases
        self.addresses = {arena: 0, constants: 1 << 40}
        self.cards = [bytearray(arena_bytes // CARDS + STRIPE) for _ in range(CARDS)]
        self.turns = [0] * CARDS

    def card_of(self, address):
        return address // STRIPE % CARDS

    def _pieces(self, address, size):
        # Yield where in a range of the memory a stripe begins, and its bytes in the card it is in.
        end = address + size
        for at in range(address - address % STRIPE, end, STRIPE):
            first, last = max(at, address), min(at + STRIPE, end)
            start = at // STRIPE // CARDS * STRIPE - at
            card = memoryview(self.cards[self.card_of(at)])
            yield first - address, card[start + first : start + last]

    def read(self, address, size):
        return b"".join(piece for _, piece in self._pieces(address, size))

    def write(self, address, data):
        for first, piece in self._pieces(address, len(data)):
            piece[:] = data[first : first + len(piece)]

    def copy(self, target, source, size):
        if source.space == PROCESS:
            data = ctypes.string_at(source.address, size)
        else:
            data = self.read(source.address, size)
        if target.space == PROCESS:
            ctypes.memmove(target.address, data, size)
        else:
            self.write(target.address, data)

    def finish(self):
        print("turns of the engine:", *self.turns)


class HalfMemory(PackageMemory):
    kind: ClassVar[str] = BANK

    def __init__(self, loader, space):
        self._space = space

    def open(self, contents, in_process):
        return HalfSession(self._space.arena_bytes, contents.bases_in(self._space.name))


@dataclass(frozen=True, kw_only=True)
class HalfStep(Step):
    kind: ClassVar[str] = "half"
    space: ClassVar[str] = BANK

    instruction: str
    perm: tuple[int, ...] = ()

    def load(self, loader):
        lanes = loader.contents.part(HalfPart).lanes
        return lambda state: lambda: self._compute(state, lanes)

    def _compute(self, state, lanes):
        bank = state.spaces[BANK]
        operands = [self._array(bank, state, number) for number in self.operands]
        (number,) = self.results
        address, buffer = state.bases.place(number).address, state.bases.buffer(number)
        result = np.empty(buffer.shape, np.dtype(buffer.dtype))
        if self.instruction == "transpose":
            result[:] = operands[0].transpose(self.perm)
        elif self.instruction == "cast":
            result[:] = operands[0]
        else:
            assert result.dtype == np.float16
            flat = [each.reshape(-1) for each in operands]
            for start in range(0, result.size, lanes):
                turn = slice(start, start + lanes)
                made = INSTRUCTIONS[self.instruction](*(each[turn] for each in flat))
                result.reshape(-1)[turn] = made
                bank.turns[bank.card_of(address + 2 * start)] += 1
        bank.write(address, result.tobytes())

    def _array(self, bank, state, number):
        data = bank.read(state.bases.place(number).address, state.bases.size_bytes(number))
        buffer = state.bases.buffer(number)
        return np.frombuffer(data, np.dtype(buffer.dtype)).reshape(buffer.shape)


@dataclass(frozen=True)
class HalfReport(PartReport):
    half_instructions: dict[str, int]
    half_shapes: list[list[int]]

    def sections(self):
        return iter(())


@dataclass(frozen=True)
class HalfPart(Part):
    kind: ClassVar[str] = "half"

    lanes: int = 1

    def check(self, contents):
        if self.lanes < 1:
            raise PackageError(f"'lanes' is {self.lanes}, must be from 1 on")

    def report(self, contents, steps):
        mine = [step for step in steps if isinstance(step, HalfStep)]
        own = [s for s in mine if s.instruction in INSTRUCTIONS]
        shapes = [list(contents.buffers[s.results[0]].shape) for s in own]
        return HalfReport(dict(Counter(step.instruction for step in mine)), shapes)
"""

POINTS = """\
[trivium.targets]
half = half_engine.target:TARGET
[trivium.steps]
half = half_engine.runtime:HalfStep
[trivium.memory_spaces]
halfbank = half_engine.runtime:HalfMemory
[trivium.parts]
half = half_engine.runtime:HalfPart
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Install the distribution in a folder, with a model beside it."""
    package, info = tmp_path / "half_engine", tmp_path / "half_engine-1.0.dist-info"
    package.mkdir()
    info.mkdir()
    for name, text in (("__init__", ""), ("target", TARGET), ("runtime", RUNTIME)):
        (package / f"{name}.py").write_text(text)
    (info / "METADATA").write_text("Name: half-engine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    onnx.save(
        onnx.parser.parse_model(MODEL),
        tmp_path / "m.onnx",
    )
    random = np.random.default_rng(0)
    for name in "xz":
        np.save(tmp_path / f"{name}.npy", random.normal(size=(1, 6, 5, 3)).astype(np.float32))
    return tmp_path


def trivium(site: Path, *arguments: str, cards: int = 1) -> str:
    known = {**os.environ, "CARDS": str(cards)}
    done = subprocess.run(
        [*TRIVIUM, *arguments], cwd=site, capture_output=True, text=True, env=known
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def expected(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return what f16 makes of it, but for the exponential."""
    half = np.float16
    b = np.maximum(x.astype(half) + z.astype(half), half(0))
    c = np.exp(b.astype(np.float32))
    return np.maximum(c.astype(half) + x.astype(half), half(0)).astype(np.float32)


def test_casts_of_place_type_and_layout_are_inserted_and_the_context_is_saved(site: Path) -> None:
    trivium(site, "compile", "m.onnx", "--target", "half", "-o", "m.trv")
    report = json.loads(trivium(site, "info", "m.trv", "--json"))
    # Two ops follow one another twice, and nothing is cast between them: x and z go in, b comes
    # out, c and x go in again, y comes out.
    counts = report["half_instructions"]
    assert (counts["add"], counts["relu"]) == (2, 2)
    assert (counts["cast"], counts["transpose"]) == (6, 6)
    assert report["half_shapes"] == [[1, 5, 3, 6]] * 4
    said = trivium(
        site, "run", "m.trv", "--input", "x=x.npy", "--input", "z=z.npy", "--output", "y=y.npy"
    )
    x, z, y = (np.load(site / f"{name}.npy") for name in "xzy")
    wanted = expected(x, z)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, wanted, rtol=2**-10)
    assert np.abs(y - np.maximum(np.exp(np.maximum(x + z, 0)) + x, 0)).max() > 0
    # 90 elements in turns of 16, for each of four ops: the number is in the package.
    assert "turns of the engine: 24" in said
    target = site / "half_engine" / "target.py"
    target.write_text(target.read_text().replace("LANES = 16", "LANES = 45"))
    trivium(site, "compile", "m.onnx", "--target", "half", "-o", "wide.trv")
    feeds = ("--input", "x=x.npy", "--input", "z=z.npy")
    assert "turns of the engine: 8" in trivium(site, "run", "wide.trv", *feeds)
    assert "turns of the engine: 24" in trivium(site, "run", "m.trv", *feeds)


def test_a_device_may_be_two_cards(site: Path) -> None:
    """Values are spread over both cards, which take turns; results are those of one card."""
    trivium(site, "compile", "m.onnx", "--target", "half", "-o", "m.trv")
    feeds = ("--input", "x=x.npy", "--input", "z=z.npy")
    said = trivium(site, "run", "m.trv", *feeds, "--output", "y=y.npy", cards=2)
    x, z, y = (np.load(site / f"{name}.npy") for name in "xzy")
    np.testing.assert_allclose(y, expected(x, z), rtol=2**-10)
    assert "turns of the engine: 12 12" in said
    trivium(site, "run", "m.trv", *feeds, "--output", "y=one.npy")
    np.testing.assert_array_equal(y, np.load(site / "one.npy"))
