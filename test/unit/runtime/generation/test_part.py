"""The part of a manifest of a decoder: it survives a compilation, and what is wrong is refused."""

from dataclasses import replace
from typing import Any

import pytest
import trivium
from trivium.runtime import Package
from trivium.runtime.generation.part import CachePort, GenerationPart
from trivium.runtime.manifest import Manifest
from trivium.test.unit.runtime.generation.test_other_decoders import recurrent


@pytest.fixture(scope="module")
def package() -> Package:
    return trivium.build(recurrent(), generate={"chunk": 2})


def test_a_package_that_is_compiled_again_generates(package: Package) -> None:
    again = trivium.build(package, machine="x86-64-v3")
    part = again.manifest.part(GenerationPart)
    assert part == package.manifest.part(GenerationPart)
    assert part.caches == (CachePort("present_state", "past_state", 0, -1),)
    assert part.summary() == "a decoder with 1 cache"


def cache_fault(number: int, output: str, given: str) -> str:
    return (
        f"'caches[{number}]' is from '{output}' to '{given}', must be an output and an input of "
        "one type, each input once, with axes of theirs"
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ids": ""}, "'ids' is '', must be an input of i32 or i64, 2-D"),
        ({"ids": "past_state"}, "'ids' is 'past_state', must be an input of i32 or i64, 2-D"),
        ({"mask": "none"}, "'mask' is 'none', must be an input of i32 or i64, 2-D"),
        ({"rows": "input_ids"}, "'rows' is 'input_ids', must be an input of i32 or i64, 1-D"),
        (
            {"logits": "input_ids"},
            "'logits' is 'input_ids', must be an output [batch, rows, words]",
        ),
        (
            {"caches": (CachePort("logits", "past_state", 0, -1), CachePort("x", "y", 0, 1))},
            cache_fault(1, "x", "y"),
        ),
        (
            {"caches": (CachePort("present_state", "past_state", 0, 3),)},
            cache_fault(0, "present_state", "past_state"),
        ),
        (
            {"caches": (CachePort("present_state", "past_state", 1, 1),)},
            cache_fault(0, "present_state", "past_state"),
        ),
        (
            {"caches": 2 * (CachePort("present_state", "past_state", 0, 1),)},
            cache_fault(1, "present_state", "past_state"),
        ),
        ({"ends": (3, 24)}, "'ends' has 24, must be tokens below 24"),
        (
            {"sampling": {"top_p": 2.0}},
            "'sampling' does not fit: top_p is 2.0, must be a number above 0 and at most 1",
        ),
        (
            {"sampling": {"beams": 2}},
            "'sampling' does not fit: Sampling lacks [], does not know ['beams']",
        ),
    ],
)
def test_ports_that_do_not_fit_are_refused(
    package: Package, changed: dict[str, Any], message: str
) -> None:
    parts = [
        replace(part, **changed) if isinstance(part, GenerationPart) else part
        for part in package.manifest.parts
    ]
    manifest = Manifest.from_json(replace(package.manifest, parts=tuple(parts)).to_json())
    from trivium.runtime.checks import check

    with pytest.raises(trivium.PackageError) as caught:
        check(manifest)
    assert str(caught.value) == f"manifest: {message}"
