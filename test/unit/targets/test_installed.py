"""Targets of other distributions: one entry point is enough, and no name is taken twice."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import invalidate_caches
from pathlib import Path

import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets import installed
from trivium.targets.dla.registry import Configuration, find_instructions, machine_names
from trivium.targets.dla.vanilla.packets import FILE
from trivium.targets.registry import find_target, target_names

TARGET = """
from trivium.targets.core import Target

class Npu(Target):
    pass

TARGET = Npu("{name}")
"""
PACKETS = """
from pathlib import Path
from trivium.targets.dla.core.packet import InstructionSet
from trivium.targets.dla.core.toml_file import read_description
from trivium.targets.dla.vanilla.packets import CLASSES

FILE = Path(__file__).with_name("npu.toml")

def instruction_set(file=FILE):
    return InstructionSet(read_description(file), CLASSES)
"""

Offer = Callable[..., Path]


def forget() -> None:
    invalidate_caches()
    installed.targets.cache_clear()
    installed.accelerators.cache_clear()


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Offer]:
    """Install distributions, each with one entry point, beside those that there are."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(distribution: str, name: str, value: str, **files: str) -> Path:
        info = tmp_path / f"{distribution}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {distribution}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[trivium.targets]\n{name} = {value}\n")
        package = tmp_path / value.partition(":")[0].partition(".")[0]
        package.mkdir(exist_ok=True)
        for module, text in {"__init__": "", **files}.items():
            (package / f"{module}.py").write_text(text)
        forget()
        return package

    yield install
    for name in [name for name in sys.modules if name.startswith("my_npu")]:
        del sys.modules[name]
    forget()


@pytest.mark.parametrize("value", ["my_npu.target", "my_npu.target:TARGET"])
def test_one_entry_point_brings_a_target_and_its_packets(offer: Offer, value: str) -> None:
    package = offer("npu-compiler", "npu", value, target=TARGET.format(name="npu"), packets=PACKETS)
    (package / "npu.toml").write_text(FILE.read_text().replace('"vanilla"', '"npu"', 1))
    assert "npu" in target_names()
    assert find_target("npu").name == "npu"
    assert machine_names() == ["npu", "vanilla"]
    assert find_instructions("npu").description.name == "npu"


def test_a_package_may_have_the_target_itself(offer: Offer) -> None:
    text = TARGET.format(name="npu")
    package = offer("npu-compiler", "npu", "my_npu", __init__=text, packets=PACKETS)
    (package / "npu.toml").write_text(FILE.read_text().replace('"vanilla"', '"npu"', 1))
    assert find_target("npu").name == "npu"
    assert find_instructions("npu").description.name == "npu"


def test_a_target_without_packets_is_no_accelerator(offer: Offer) -> None:
    offer("npu-compiler", "npu", "my_npu.target", target=TARGET.format(name="npu"))
    assert "npu" in target_names()
    assert machine_names() == ["vanilla"]


def test_two_distributions_with_one_name_are_named(offer: Offer) -> None:
    for number in (1, 2):
        offer(f"npu{number}", "npu", f"my_npu{number}.target", target="", packets="")
    assert target_names().count("npu") == 1
    expected = "my_npu1.{0} of npu1 and my_npu2.{0} of npu2, remove one of them"
    with pytest.raises(CompileError) as caught:
        find_target("npu")
    assert f"two targets are called 'npu': {expected.format('target')}" in str(caught.value)
    with pytest.raises(CompileError) as caught:
        find_instructions("npu")
    assert f"two accelerators are called 'npu': {expected.format('packets')}" in str(caught.value)


def test_nobody_else_is_cpu(offer: Offer) -> None:
    offer("npu", "cpu", "my_npu.target", target=TARGET.format(name="cpu"))
    with pytest.raises(CompileError, match=r"my_npu\.target of npu and trivium\.targets\.cpu"):
        find_target("cpu")
    assert find_target("host").name == "host"


@pytest.mark.parametrize(
    ("value", "text", "message"),
    [
        ("my_npu.missing", "", "No module named 'my_npu.missing'"),
        ("my_npu.target", "", "has no attribute 'TARGET'"),
        ("my_npu.target", "TARGET = 3", "it is 3"),
        ("my_npu.target", TARGET.format(name="other"), "it is 'other'"),
    ],
)
def test_what_cannot_be_loaded_is_named(offer: Offer, value: str, text: str, message: str) -> None:
    offer("npu-compiler", "npu", value, target=text)
    with pytest.raises(CompileError) as caught:
        find_target("npu")
    assert "target 'npu' of npu-compiler cannot be loaded: " in str(caught.value)
    assert message in str(caught.value)
    assert find_target("cpu").name == "cpu"


def test_a_users_description_of_a_known_accelerator(tmp_path: Path) -> None:
    half = tmp_path / "half.toml"
    half.write_text(FILE.read_text().replace("bytes = 262144", "bytes = 131072"))
    assert find_instructions("vanilla", half).description.memories["sram"].bytes == 131072
    assert (
        Configuration.parse(f"vanilla:{half}").instructions.description.memories["sram"].bytes
        == 131072
    )
    assert Configuration.parse("vanilla").instructions.description.memories["sram"].bytes == 262144
    half.write_text(FILE.read_text().replace('name = "vanilla"', 'name = "half"'))
    with pytest.raises(CompileError, match=r"half\.toml describes 'half', must describe 'vanilla'"):
        find_instructions("vanilla", half)
    with pytest.raises(CompileError, match="no accelerator is called 'half', there are: vanilla"):
        find_instructions("half")
    with pytest.raises(CompileError, match="cannot read the description"):
        find_instructions("vanilla", tmp_path / "none.toml")


def test_packets_are_found_without_what_compiles() -> None:
    program = (
        "import sys; sys.modules['torch_mlir'] = sys.modules['onnx'] = None;"
        "from trivium.targets.dla.registry import find_instructions; find_instructions('vanilla');"
        "print([name for name in ('trivium.passes', 'trivium.compiler') if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"
