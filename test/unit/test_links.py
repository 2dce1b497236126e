"""Links between pages lead somewhere: to a file of the repository, and to a heading in it."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRACKED = frozenset(
    subprocess.check_output(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True
    ).splitlines()
)
FOLDERS = frozenset(str(folder) for name in TRACKED for folder in Path(name).parents)
PAGES = sorted(ROOT / name for name in TRACKED if name.endswith(".md") and (ROOT / name).is_file())
FENCE = re.compile(r"^(```+).*?^\1$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^][]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def prose(text: str) -> str:
    """Return a page without its blocks of code."""
    return FENCE.sub("", text)


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for title in HEADING.findall(prose(text)):
        shown = LINK.sub(lambda link: link[0][1 : link[0].index("]")], title)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        number = 0
        while (anchor := f"{slug}-{number}" if number else slug) in found:
            number += 1
        found.add(anchor)
    return found


@cache
def anchors_of(page: Path) -> frozenset[str]:
    return frozenset(anchors(page.read_text()))


def is_tracked(path: Path) -> bool:
    return path.is_relative_to(ROOT) and str(path.relative_to(ROOT)) in TRACKED | FOLDERS


def broken_links(page: Path, text: str) -> Iterator[str]:
    """Yield the links of a page to files that a checkout lacks, and to headings that pages lack."""
    for link in LINK.findall(prose(text)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not is_tracked(target) or (anchor and anchor not in anchors_of(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    assert list(broken_links(page, page.read_text())) == []


def test_links_that_lead_nowhere_are_found() -> None:
    page = ROOT / "docs" / "opt.md"
    text = (
        "[a](opt.md) [b](#flags) [c](none.md) [d](architecture.md#accelerators) ![e](e.png)\n"
        "[f](architecture.md#nowhere) [g](https://example.com)\n```\n[h](h.md)\n```\n"
        "[i](../.venv) [j](demo)"
    )
    broken = ["#flags", "none.md", "e.png", "architecture.md#nowhere", "../.venv"]
    assert "flags" not in anchors_of(page)
    assert list(broken_links(page, text)) == broken


def test_anchors_are_those_of_github() -> None:
    text = "# A `b.c` d\n```\n# no\n```\n## Same\n## Same\n## See [here](x.md), too\n"
    assert anchors(text) == {"a-bc-d", "same", "same-1", "see-here-too"}
