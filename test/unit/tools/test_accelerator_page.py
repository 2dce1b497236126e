"""The page of an accelerator: all of its description, and other numbers where there are others."""

from pathlib import Path

from trivium.targets.dla.core.description import ENGINE_KINDS
from trivium.targets.dla.registry import find_instructions
from trivium.targets.dla.vanilla.packets import FILE
from trivium.tools.accelerator_page import COSTS, accelerator_page

VANILLA = find_instructions("vanilla")
PAGE = accelerator_page("Notice.", VANILLA)


def rows(page: str, head: str) -> list[list[str]]:
    """Return the cells of all tables below a head, up to the next one."""
    text = page.partition(f"\n{head}\n")[2].partition("\n#")[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_all_memories_and_engines_are_listed() -> None:
    description = VANILLA.description
    assert [row[0].strip("`") for row in rows(PAGE, "## Memories")] == list(description.memories)
    engines = rows(PAGE, "## Engines")
    assert [row[0].strip("`") for row in engines] == list(description.engines)
    assert engines[2][-1] == "32 cycles, then 16 x 16 products a cycle"
    runs = [name.strip("`") for row in engines for name in row[3].split(", ")]
    assert sorted(runs) == sorted(description.packets)
    assert set(COSTS) == set(ENGINE_KINDS)


def test_all_fields_and_limits_are_listed() -> None:
    for form in VANILLA.description.packets.values():
        table = rows(PAGE, f"### `{form.name}`")
        assert [row[0].strip("`") for row in table] == [field.name for field in form.fields]
        assert all(limit.because in PAGE for limit in form.limits)
    conv = {row[0].strip("`"): row[1:] for row in rows(PAGE, "### `conv`")}
    assert conv["mode"] == ["2", "120", "0: `dense`, 1: `depthwise`", ""]
    assert conv["low"] == ["3", "112 to 119", "-128 to 127", ""]
    assert conv["weights"] == ["3", "0 to 23", "address in `weights`, a multiple of 16", ""]
    assert conv["kernel_rows"][-2:] == ["0 to 255", "1 to 16: takes kernels of 1 to 16 rows"]


def test_the_header_is_where_it_is_encoded() -> None:
    bits = {row[0].strip("`"): row[1] for row in rows(PAGE, "## Packets")}
    first = int(bits["wait.mac"].partition(" ")[0])
    line = VANILLA.classes["end"](waits={"mac": 5}, flags=3)
    encoded = int.from_bytes(VANILLA.encode(line), "little")
    assert encoded >> first & 0xFF == 5
    assert encoded >> int(bits["flags"].partition(" ")[0]) & 0xFF == 3
    assert bits["reserved"] == "24 to 31"


def test_other_numbers_make_another_page(tmp_path: Path) -> None:
    half = tmp_path / "half.toml"
    text = FILE.read_text().replace(
        "bytes = 262144, alignment = 16", "bytes = 131072, alignment = 32"
    )
    text = text.replace("lanes = 16", "lanes = 8").replace("wait = 24", "wait = 20")
    text = text.replace('"half_away"', '"half_even"').replace("atom = 16 ", "atom = 32 ")
    half.write_text(
        text.replace(
            'most = 16, because = "takes kernels of 1 to 16 rows"',
            'most = 12, because = "takes kernels of 1 to 12 rows"',
        )
    )
    page = accelerator_page("Notice.", find_instructions("vanilla", half))
    assert "| `sram` | 128.0 KiB | 131072 | 32 | 24 bits |" in page
    assert "16 cycles, then 8 elements a cycle" in page
    assert "| `wait.store` | 52 to 71 |" in page
    assert "address in `sram`, a multiple of 32" in page
    assert "rounded `half_even`" in page
    assert "to a multiple of 32." in page
    assert "1 to 12: takes kernels of 1 to 12 rows" in page
