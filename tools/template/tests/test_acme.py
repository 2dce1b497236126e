"""The accelerator acme: description, packet, op, and a network that runs on it."""

import re
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pytest
import trivium
from network import network, samples
from trivium.targets.dla.core.disassembly import assemble, disassemble
from trivium.targets.registry import target_names
from trivium.tools.main import main
from trivium.tools.opt import main as opt

from acme.arithmetic import Slopes
from acme.packets import FILE, LeakyRelu, instruction_set
from acme.page import PAGE, page
from acme.selection import ALL, slopes_of

HERE = Path(__file__).parent
INSTRUCTIONS = instruction_set()
HALVES = Slopes(-3, 1 << 24, 1 << 23, 24, "half_away", 5)


@pytest.fixture(scope="module")
def quantised(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the network with the scales that samples give it."""
    path = str(tmp_path_factory.mktemp("network") / "network.onnx")
    trivium.quantize(network(), {"x": samples(8)}, path)
    return path


def test_trivium_finds_the_target() -> None:
    assert "acme" in target_names()


def test_description_is_sound() -> None:
    # All its faults would be listed when it is read.
    assert INSTRUCTIONS.description.name == "acme"
    assert set(INSTRUCTIONS.classes) == set(INSTRUCTIONS.description.packets)


def test_page_is_of_this_description() -> None:
    assert PAGE.read_text() == page(), "python -m acme.page writes it again"


@pytest.mark.parametrize("seed", range(20))
def test_packet_is_what_its_bytes_and_its_text_say(seed: int) -> None:
    random = np.random.default_rng(seed)
    form = INSTRUCTIONS.description.packets["leaky_relu"]
    drawn: dict[str, int] = {}
    for field in form.fields:
        aligned = 16 if field.memory else 1
        number = int(random.integers(field.range[0], field.range[-1], endpoint=True))
        drawn[field.name] = number // aligned * aligned
    drawn["shift"] = min(drawn["shift"], 62)
    packet = LeakyRelu(waits={"load": 1 + seed}, **drawn)
    code = INSTRUCTIONS.encode(packet)
    assert INSTRUCTIONS.decode(code) == packet
    assert assemble(INSTRUCTIONS, disassemble(INSTRUCTIONS, code)) == code


def test_slopes_are_those_of_fractions() -> None:
    for x, y in zip(ALL, HALVES.of(ALL.astype(np.int8)), strict=True):
        exact = Fraction(int(x) + 3, 1 if x >= -3 else 2)
        away = floor(abs(exact) + Fraction(1, 2)) * (1 if exact > 0 else -1)
        assert y == min(max(away + 5, -128), 127)


def test_a_table_of_two_lines_is_found() -> None:
    table = HALVES.of(ALL.astype(np.int8))
    found = slopes_of(table, "half_away")
    assert found is not None
    np.testing.assert_array_equal(found.of(ALL.astype(np.int8)), table)


def test_other_tables_are_left_alone() -> None:
    table = HALVES.of(ALL.astype(np.int8))
    table[77] += 2
    assert slopes_of(table, "half_away") is None
    curve = np.round(127 * np.tanh(ALL / 40)).astype(np.int8)
    assert slopes_of(curve, "half_away") is None


def test_op_is_printed_as_it_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert opt([str(HERE / "ops.mlir")]) == 0
    assert '"acme.leaky_relu"(%arg0)' in capsys.readouterr().out


def test_another_target_may_not_hold_the_op() -> None:
    assert opt([str(HERE / "foreign.mlir"), "--verify-diagnostics"]) == 0


def test_network_gives_the_bits_of_integers(quantised: str) -> None:
    ours = trivium.compile(quantised, target="acme")
    integers = trivium.compile(quantised, target="cpu", quantized="integers")
    for x in samples(3):
        (found,) = ours.run({"x": x[None]}).values()
        (expected,) = integers.run({"x": x[None]}).values()
        np.testing.assert_array_equal(found, expected)


def test_a_small_memory_gives_the_same_bits(quantised: str, tmp_path: Path) -> None:
    small, text = tmp_path / "small.toml", FILE.read_text()
    small.write_text(re.sub(r"(?m)^sram = \{ bytes = \w+", "sram = { bytes = 8192", text))
    (x,) = samples(1)
    tiled = trivium.compile(quantised, target=f"acme:{small}")
    whole = trivium.compile(quantised, target="acme")
    (found,) = tiled.run({"x": x[None]}).values()
    (expected,) = whole.run({"x": x[None]}).values()
    np.testing.assert_array_equal(found, expected)


def test_packets_are_in_the_stream(
    quantised: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = str(tmp_path / "network.trv")
    assert main(["compile", quantised, "--target", "acme", "-o", package]) == 0
    assert main(["disasm", package]) == 0
    text = capsys.readouterr().out
    assert text.count("\nleaky_relu ") == 2
    assert "\nlookup " not in text
    assert main(["simulate", package, "--seed", "1"]) == 0
    assert "on acme" in capsys.readouterr().out
