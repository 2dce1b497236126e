"""docs/extending/your-accelerator.md is true: its files and commands give what it shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from trivium.test.unit.tools.packages import environment

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "extending" / "your-accelerator.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANYTHING = "…"
TOOLS = {
    "python": "",
    "trivium": "-m trivium.tools.main",
    "trivium-opt": "-m trivium.tools.opt",
    "pip": "-m trivium.test.unit.tools.packages",
}


def commands(text: str) -> list[tuple[str, str]]:
    """Return the commands of a block, each with what it prints."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    assert not parts[0]
    return list(zip(parts[1::2], parts[2::2], strict=True))


def pattern(expected: str) -> str:
    """Return what a text matches in which `…` stands for anything, or a line of it for lines."""
    lines = [
        r"(?:.*\n)*" if line == ANYTHING else re.escape(line).replace(ANYTHING, ".*") + r"\n"
        for line in expected.splitlines()
    ]
    return "".join(lines)


def changed(text: str, difference: str) -> str:
    """Return a text with the lines of a difference in the place of those that it takes out."""
    lines = [line or " " for line in difference.splitlines()]
    before = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    after = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    assert text.count(before) == 1, before
    return text.replace(before, after)


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, str]:
    """Return an environment with the tools of the checkout, and a pip that asks no network."""
    for name, arguments in TOOLS.items():
        script = tmp_path / "bin" / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {arguments} "$@"\n')
        script.chmod(0o755)
    found = environment(tmp_path / "site")
    return {**found, "PATH": f"{tmp_path}/bin:{found['PATH']}", "SITE": str(tmp_path / "site")}


def test_the_page_is_true(tmp_path: Path, tools: dict[str, str]) -> None:
    place = tmp_path / "work"
    place.mkdir()
    for kind, name, text in BLOCK.findall(PAGE.read_text()):
        file = place / name
        if kind == "diff":
            file.write_text(changed(file.read_text(), text))
        elif kind != "console":
            assert not file.exists()
            file.write_text(text)
        else:
            for command, expected in commands(text):
                run(command, expected, place, tools)
    run(
        "python -m ruff check -q wukong && python -m ruff format -q --check wukong",
        "",
        place,
        tools,
    )


def run(command: str, expected: str, place: Path, tools: dict[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=place,
        env=tools,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    matches = re.fullmatch(pattern(expected), done.stdout)
    assert matches is not None, f"$ {command}\n{done.stdout}"
    assert bool(done.returncode) == (" error: " in expected), command


def test_what_does_not_match_is_noticed() -> None:
    assert commands("$ a\nx\n$ b\n") == [("a", "x\n"), ("b", "")]
    assert re.fullmatch(pattern("a\n…\nb …\n"), "a\n1\n2\nb c\n")
    assert not re.fullmatch(pattern("a\n…\nb …\n"), "a\n1\n2\nd c\n")
    assert changed("a\nb\nc\n", " a\n-b\n+d\n") == "a\nd\nc\n"
    with pytest.raises(AssertionError):
        changed("a\nb\na\nb\n", " a\n-b\n")
