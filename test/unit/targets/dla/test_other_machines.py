"""Machines like vanilla with other engines, packets and fields."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_descriptions import VANILLA, text_of
from test_drawn_descriptions import computed, expected, network
from trivium.compiler.check import can_run
from trivium.compiler.driver import build
from trivium.dialects.core.errors import CompileError
from trivium.runtime.dla.part import DlaPart
from trivium.targets.dla.core.packet import InstructionSet
from trivium.targets.dla.core.toml_file import parse_description
from trivium.targets.dla.vanilla.packets import CLASSES, LoadWeights


def machine(table: dict[str, Any]) -> InstructionSet:
    return InstructionSet(parse_description(text_of(table)), CLASSES)


def with_packets(**changed: Any) -> dict[str, Any]:
    """Return vanilla's tables with other entries of packets; None leaves a packet out."""
    packets = {n: {**p, **(changed.get(n) or {})} for n, p in VANILLA["packets"].items()}
    return {**VANILLA, "packets": {n: p for n, p in packets.items() if changed.get(n, p)}}


def with_engines(names: list[str], **renamed: str) -> dict[str, Any]:
    """Return vanilla's tables with engines in an order, some by another name."""
    engines = {renamed.get(name, name): VANILLA["engines"][name] for name in names}
    runs = {n: {"engine": renamed.get(p["engine"], p["engine"])} for n, p in _packets()}
    return {**with_packets(**runs), "engines": engines}


def _packets() -> list[tuple[str, Any]]:
    return list(VANILLA["packets"].items())


def check_bits(name: str, table: dict[str, Any], tmp_path: Path) -> None:
    """Compile a small network for a machine; it must give the bits of integers."""
    model, image = network(name)
    file, text = tmp_path / "other.toml", text_of(table)
    file.write_text(text)
    package = build(model, target=f"vanilla:{file}")
    assert package.manifest.part(DlaPart).programs
    (wanted,) = expected(model, [image], parse_description(text))
    (found,) = computed(package, [image])
    np.testing.assert_array_equal(found, wanted)


def test_a_wide_field_takes_the_unit_that_it_ends_in() -> None:
    fields = VANILLA["packets"]["load_weights"]["fields"]
    last = {**fields[-1], "bit": 116, "wide": True}
    packet = LoadWeights(region=1, source=16, destination=32, length=0xABCDEF)
    wide = machine(with_packets(load_weights={"fields": [*fields[:-1], last]}))
    code = wide.encode(packet)
    assert len(code) == 3 * 16
    assert code[0] == 2
    assert code[1] & 15 == 3, "the header says how many units there are"
    words = int.from_bytes(code, "little")
    assert words >> (16 * 8 + 116) == 0xABCDEF
    assert wide.decode(code) == packet


def test_the_digest_changes_with_the_order_of_engines() -> None:
    """Packets number engines, and say their waits, in that order."""
    names = list(VANILLA["engines"])
    digests = {machine(with_engines(order)).description.digest for order in (names, names[::-1])}
    assert len(digests) == 2


def test_engines_may_have_other_names(tmp_path: Path) -> None:
    names = ["mac", "load", "vec", "store"]
    renamed = {"mac": "array", "load": "in", "store": "out", "vec": "lanes"}
    check_bits("separable", with_engines(names, **renamed), tmp_path)


def test_costs_are_those_of_the_engine_that_runs_a_packet(tmp_path: Path) -> None:
    table = with_packets(load_weights={"engine": "slow"})
    engines = {**VANILLA["engines"], "slow": {**VANILLA["engines"]["load"], "latency": 5000}}
    table = {**table, "engines": engines, "header": {**VANILLA["header"], "wait": 18}}
    packet = LoadWeights(region=1, source=0, destination=0, length=160)
    assert packet.cycles(machine(table).description) == 5000 + 160 // 16
    check_bits("residual", table, tmp_path)


@pytest.mark.parametrize("rounding", ["half_up", "half_even"])
@pytest.mark.parametrize("name", ["branches", "separable"])
def test_all_that_is_moved_rounds_as_the_machine_does(
    name: str, rounding: str, tmp_path: Path
) -> None:
    check_bits(name, {**VANILLA, "rounding": rounding}, tmp_path)


@pytest.mark.parametrize("packet", ["conv", "pool", "eltwise", "lookup", "resize"])
def test_what_a_left_out_packet_computes_runs_elsewhere(packet: str, tmp_path: Path) -> None:
    tables = with_packets(**{packet: None})
    assert packet not in machine(tables).classes
    check_bits("branches" if packet == "resize" else "separable", tables, tmp_path)


@pytest.mark.parametrize(
    ("packet", "field"),
    [("load", "rows"), ("store", "columns"), ("conv", "filters"), ("load_weights", "length")],
)
def test_what_makes_tiles_that_packets_cannot_say_runs_elsewhere(
    packet: str, field: str, tmp_path: Path
) -> None:
    """The network has images of 12 x 12, and 16 channels; a field says numbers up to 7."""
    fields = VANILLA["packets"][packet]["fields"]
    narrow = [{**f, "bits": 3} if f["name"] == field else f for f in fields]
    model, image = network("residual")
    text = text_of(with_packets(**{packet: {"fields": narrow}}))
    (file := tmp_path / "narrow.toml").write_text(text)
    said = [each for v in can_run(model, target=f"vanilla:{file}") for each in v.refusals]
    why = f"vanilla has no tile that fits the fields of its packets: field '{field}' is"
    assert any(why in each for each in said)
    (wanted,) = expected(model, [image], parse_description(text))
    (found,) = computed(build(model, target=f"vanilla:{file}"), [image])
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("packet", ["load", "load_weights", "store", "copy", "end"])
def test_what_every_machine_needs_is_not_left_out(packet: str) -> None:
    with pytest.raises(CompileError, match=f"the description lacks the packet '{packet}'"):
        machine(with_packets(**{packet: None}))


@pytest.mark.parametrize(
    ("packet", "engine", "message"),
    [
        ("conv", "vec", "packet 'conv' is run by 'vec', an engine of kind 'vec', must be of kind"),
        ("pool", "load", "packet 'pool' is run by 'load', an engine of kind 'dma', must be of"),
        ("load_weights", "mac", "packet 'load_weights' is run by 'mac', an engine of kind 'mac'"),
    ],
)
def test_engines_of_another_kind_are_refused(packet: str, engine: str, message: str) -> None:
    memories = list(VANILLA["memories"])
    tables = with_packets(**{packet: {"engine": engine}})
    engines = {n: {**e, "memories": memories} for n, e in VANILLA["engines"].items()}
    with pytest.raises(CompileError, match=message):
        machine({**tables, "engines": engines})


@pytest.mark.parametrize(
    ("packet", "field", "kind", "message"),
    [
        ("conv", "mode", "uint", "'mode' of packet 'conv' is of kind 'uint', its class has cases"),
        ("load", "fill", "enum:a,b", "'fill' of packet 'load' is of kind 'enum:a,b', its class"),
    ],
)
def test_kinds_that_a_class_does_not_have_are_refused(
    packet: str, field: str, kind: str, message: str
) -> None:
    fields = VANILLA["packets"][packet]["fields"]
    changed = [{**f, "kind": kind} if f["name"] == field else f for f in fields]
    with pytest.raises(CompileError, match=message):
        machine(with_packets(**{packet: {"fields": changed}}))
