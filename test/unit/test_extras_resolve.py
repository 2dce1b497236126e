"""Extras resolve: what each of them asks for goes together, by the metadata of distributions."""

import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def requirements(extra: str, around: tuple[str, ...] = ()) -> list[Requirement]:
    """Return what an extra asks for, those of the extras that it includes too."""
    assert extra not in around, f"extra includes itself: {around}"
    found: list[Requirement] = []
    for text in EXTRAS[extra]:
        each = Requirement(text)
        if canonicalize_name(each.name) != "trivium":
            found.append(each)
            continue
        for inner in each.extras:
            found += requirements(inner, (*around, extra))
    return found


NAMED = {"numpy", *(canonicalize_name(each.name) for e in EXTRAS for each in requirements(e))}


def unmet(pending: list[Requirement]) -> tuple[list[str], set[str]]:
    """Follow requirements to all that they need; return the conflicts, and what is not installed.

    Those are about distributions that Trivium names; versions of others are up to whoever installs.
    """
    conflicts: list[str] = []
    missing: set[str] = set()
    seen: set[str] = set()
    while pending:
        each = pending.pop()
        extras = ("", *each.extras)
        if each.marker and not any(each.marker.evaluate({"extra": e}) for e in extras):
            continue
        if str(each) in seen:
            continue
        seen.add(str(each))
        try:
            found = distribution(each.name)
        except PackageNotFoundError:
            missing.add(canonicalize_name(each.name))
            continue
        fits = each.specifier.contains(found.version, prereleases=True)
        if not fits and canonicalize_name(each.name) in NAMED:
            conflicts.append(f"{each} is not met by {found.version}")
        for text in found.requires or ():
            inner = Requirement(text)
            if inner.marker is None or any(inner.marker.evaluate({"extra": e}) for e in extras):
                inner.marker = None
                pending.append(inner)
    return conflicts, missing


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_resolves(extra: str) -> None:
    wanted = requirements(extra)
    assert wanted, "an extra asks for something"
    named = {canonicalize_name(each.name) for each in wanted}
    assert "numpy" not in named, "the base install has it"
    conflicts, missing = unmet(wanted)
    assert not conflicts
    if missing:
        pytest.skip(f"not installed here: {', '.join(sorted(missing))}")


def test_the_gpu_extra_brings_triton_and_the_compiler() -> None:
    named = {canonicalize_name(each.name) for each in requirements("gpu")}
    compiler = {canonicalize_name(each.name) for each in requirements("compile")}
    assert named == {"triton", *compiler}


def test_versions_that_do_not_go_together_are_found() -> None:
    conflicts, _ = unmet([Requirement("numpy<1"), Requirement("numpy")])
    assert len(conflicts) == 1
    assert conflicts[0].startswith("numpy<1 is not met by ")
    assert unmet([Requirement("trivium-none")]) == ([], {"trivium-none"})
    assert unmet([Requirement("trivium-none; sys_platform == 'plan9'")]) == ([], set())
