"""Emission: what a packet cannot say is refused by op and phase; no faulty stream leaves."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from drawn_programs import drawn_program
from trivium.dialects import dla
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Op
from trivium.targets.dla.allocate.allocate_buffers import AllocateBuffers
from trivium.targets.dla.allocate.insert_tokens import InsertTokens
from trivium.targets.dla.core.contents import Container
from trivium.targets.dla.core.packet import InstructionSet
from trivium.targets.dla.emit.emit_containers import emit
from trivium.targets.dla.phases import MEM_ALLOC, Phases
from trivium.targets.dla.registry import Configuration, find_instructions
from trivium.targets.dla.retry import ATTEMPTS
from trivium.targets.dla.vanilla.packets import FILE

VANILLA = find_instructions("vanilla")

PROGRAM = """
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x16xi8, "sram">
  %b = "dla.alloc"() {address = 256} : () -> memref<1x4x4x16xi8, "sram">
  %0 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (
    memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "sram">) -> !async.token
  %1 = "dla.copy_tile"(%0, %a, %b) {rows = 4, columns = 4, channels = 3, engine = "vec"} : (
    !async.token, memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "sram">) -> !async.token
    loc("Relu_7")
  %2 = "dla.store"(%1, %b, %y) {rows = 4, columns = 4, channels = 16, engine = "store"} : (
    !async.token, memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "p", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()
func.func @main(%x: tensor<1x4x4x3xi8>) -> tensor<1x4x4x3xi8> {
  %y = "dla.run"(%x) {program = "p"} : (tensor<1x4x4x3xi8>) -> tensor<1x4x4x3xi8>
    loc("Relu_7"("relu7_out"))
  return %y : tensor<1x4x4x3xi8>
}
"""


@pytest.fixture(autouse=True)
def _context() -> Iterator[None]:
    with new_context():
        yield


def parsed(*changes: tuple[str, str]) -> Module:
    """Parse the program above with changes, and do not verify it."""
    text = PROGRAM
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return Module(ir.Module.parse(text))


def emitted(module: Module, instructions: InstructionSet = VANILLA) -> Container:
    run = next(op for op in ops(module.operation) if isinstance(op, dla.Run))
    return emit(module, run, instructions)


def refused(*changes: tuple[str, str], instructions: InstructionSet = VANILLA) -> str:
    with pytest.raises(CompileError) as caught:
        emitted(parsed(*changes), instructions)
    text = str(caught.value)
    assert text.endswith("\n  note: in phase CodeEmit")
    return text


def test_packets_ports_and_nodes() -> None:
    module = parsed()
    module.verify()
    made = emitted(module)
    packets = [placed.packet for placed in VANILLA.decode_stream(made.code)]
    assert [packet.name for packet in packets] == ["load", "copy", "store", "end"]
    assert [packet.waits for packet in packets] == [
        {}, {"load": 1}, {"vec": 1}, {"load": 1, "vec": 1}
    ]  # fmt: skip
    copy: Any = packets[1]
    assert (copy.source, copy.destination, copy.channels) == (0, 256, 3)
    assert (copy.source_row, copy.source_pixel) == (64, 16)
    assert made.nodes == ("", "Relu_7", "", "")
    assert made.regions == {"inputs": 256, "outputs": 256}
    assert [(r.offset, r.field, r.region) for r in made.relocations] == [
        (0, "source", "inputs"), (96, "destination", "outputs")
    ]  # fmt: skip
    (x,), (y,) = made.inputs, made.outputs
    assert (x.name, x.shape, x.channels, x.fill) == ("inputs.0", (1, 4, 4, 3), 16, 0)
    assert (y.name, y.region, y.offset, y.shape) == ("relu7_out", "outputs", 0, (1, 4, 4, 3))


def test_an_op_of_another_dialect_is_refused() -> None:
    foreign = '%b = "dla.alloc"', '%f = "arith.constant"() {value = 1 : i8} : () -> i8\n'
    assert "'arith.constant' op has no packet" in refused((foreign[0], foreign[1] + foreign[0]))


def test_an_op_whose_packet_the_accelerator_has_not_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dla.CopyTile, "packet", "duplicate")
    text = refused()
    assert text.startswith("Relu_7: error: 'dla.copy_tile' op is packet 'duplicate', which vanilla")
    with pytest.raises(CompileError, match="packet 'duplicate', which vanilla has not"):
        InsertTokens().run(parsed())


def test_an_op_whose_packet_runs_another_op_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dla.CopyTile, "packet", "lookup")
    said = (
        "op and its packet do not share the fields high, low, multiplier, shift, source_zero, table"
    )
    assert said in refused()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('engine = "vec"', 'engine = "mac"', "is on engine 'mac', must be on vec"),
        ("channels = 3", "channels = 70000", "field 'channels' is 70000, must be from 0 to 65535"),
        ("channels = 3", "channels = 3, shift = 63", "'shift' is 63: copy shifts by at most 62"),
        ("channels = 3", 'channels = 3, rounding = "half_even"', "rounds half_even, vanilla"),
        ("atom = 16", "atom = 8", "has atoms of 8 channels, vanilla has 16"),
        ("%b = \"dla.alloc\"() {address = 256}", "%b = \"dla.alloc\"()", "has no address of 'dest"),
    ],
)  # fmt: skip
def test_what_no_packet_says_is_refused(old: str, new: str, message: str) -> None:
    assert message in refused((old, new))


def test_an_op_without_engine_is_refused() -> None:
    module = drawn_program(random.Random(1), 30)
    AllocateBuffers().run(module)
    with pytest.raises(CompileError, match="has no engine, --insert-tokens gives it one"):
        emitted(module)


def test_a_constant_that_is_not_known_is_refused() -> None:
    swap = [
        ('%x: memref<1x4x4x16xi8, "dram.inputs">', '%x: memref<1x4x4x16xi8, "dram.constants">'),
        ('memref<1x4x4x16xi8, "dram.inputs">', 'memref<1x4x4x16xi8, "dram.constants">'),
    ]
    text = refused(*swap)
    assert "Relu_7: error: 'dla.run' op has operand 0, a constant of the program, which" in text


def test_constants_lie_where_arguments_are() -> None:
    module = drawn_program(random.Random(3), 60)
    AllocateBuffers().run(module)
    InsertTokens().run(module)
    made = emitted(module)
    assert made.constants == module.weights["c"].tobytes()
    assert made.regions["constants"] == 656


def test_a_stream_with_a_token_too_few_does_not_leave() -> None:
    module = parsed(
        ('"dla.store"(%1, %b', '"dla.store"(%b'),
        ("!async.token, memref<1x4x4x16xi8, \"sram\">, memref<1x4x4x16xi8, \"dram.outputs\">",
         "memref<1x4x4x16xi8, \"sram\">, memref<1x4x4x16xi8, \"dram.outputs\">"),
    )  # fmt: skip
    with pytest.raises(RuntimeError, match="packet 2: missing dependency: reads bytes of sram"):
        emitted(module)


def test_a_program_whose_buffers_share_bytes_does_not_leave() -> None:
    second = '%b = "dla.alloc"() {address = 256}', '%b = "dla.alloc"() {address = 240}'
    with pytest.raises(RuntimeError, match=r"at 240 .* at 0 share bytes while op 1 needs both"):
        emitted(parsed(second))
    emitted(parsed((second[0], '%b = "dla.alloc"() {address = 512}')))


def described(folder: Path, *changes: tuple[str, str]) -> str:
    text = FILE.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "other.toml").write_text(text)
    return str(folder / "other.toml")


def test_a_description_of_the_user_is_what_passes_look_at(tmp_path: Path) -> None:
    small = described(tmp_path, ("sram = { bytes = 262144", "sram = { bytes = 768"))
    module = drawn_program(random.Random(3), 60)
    with pytest.raises(CompileError, match=r"sram overflows by \d+ bytes: it has 768, the plan "):
        AllocateBuffers(Configuration("vanilla", small)).run(module)


def test_an_overflow_makes_the_phases_try_again(tmp_path: Path) -> None:
    small = described(tmp_path, ("sram = { bytes = 262144", "sram = { bytes = 768"))
    said: list[str] = []

    def allocate(parameters: Any) -> AllocateBuffers:
        return AllocateBuffers(Configuration("vanilla", small if parameters.share > 50 else ""))

    phases = Phases().add(MEM_ALLOC, allocate, InsertTokens())
    module = drawn_program(random.Random(3), 60)
    log = phases.run(module, said.append)
    greedy = [parameters for parameters in ATTEMPTS if parameters.share > 50]
    assert [failure.parameters for failure in log.failures] == greedy
    assert {failure.phase for failure in log.failures} == {MEM_ALLOC}
    assert all(failure.step == "allocate-buffers" for failure in log.failures)
    assert any("attempt 1: MemAlloc: sram overflows by" in line for line in said)
    emitted(module)


def test_strides_of_what_is_repeated_are_zero() -> None:
    module = drawn_program(random.Random(2), 0)
    program = next(op for op in ops(module.operation) if isinstance(op, dla.Program))
    end = program.block.operations[len(program.block.operations) - 1]
    sizes: dict[str, int] = {"rows": 4, "columns": 4, "channels": 16}
    with ir.InsertionPoint(end), ir.Location.name("Add_1"):
        made = {name: image(name, *shape) for name, shape in
                {"x": (4, 4), "pixel": (1, 1), "row": (1, 4), "y": (4, 4)}.items()}  # fmt: skip
        source = program.block.arguments[0]
        for name, (rows, columns) in {"x": (4, 4), "pixel": (1, 1), "row": (1, 4)}.items():
            dla.Load.put(source, made[name], rows=rows, columns=columns, channels=16)
        for name in ("pixel", "row"):
            dla.EltwiseTile.put(made["x"], made["y"], made[name], operator="add", **sizes)
        dla.Store.put(made["y"], program.block.arguments[3], **sizes)
    AllocateBuffers().run(module)
    InsertTokens().run(module)
    module.verify()
    packets = [placed.packet for placed in VANILLA.decode_stream(emitted(module).code)]
    strides = [(p.other_row, p.other_pixel) for p in packets if p.name == "eltwise"]  # type: ignore[attr-defined]
    assert strides == [(0, 0), (0, 16)]


def image(name: str, rows: int, columns: int) -> ir.Value:
    type_ = ir.Type.parse(f'memref<1x{rows}x{columns}x16xi8, "sram">')
    op: Op = dla.Alloc.create([], [type_], {}, loc=ir.Location.name(name))
    return op.results[0]
