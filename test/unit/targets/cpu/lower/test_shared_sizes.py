"""Convolutions that differ in their numbers of channels alone have one kernel for all sizes."""

from collections.abc import Mapping
from typing import Any

import pytest
from dynamic_kernels import Dynamic, assert_equal_to_static, build
from trivium.dialects import cpu, tri
from trivium.dialects.core.machine import find_machine
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.op import Op
from trivium.dialects.core.verification import Verify
from trivium.targets.cpu.emit.kernel_pipeline import kernel_pipeline, module_of
from trivium.targets.cpu.kernels.kernel_module import kernel_modules, record_of
from trivium.targets.cpu.lower.shared_sizes import shared_form

WINDOW: dict[str, Any] = {"kernel": (3, 3), "strides": (1, 1), "dilations": (1, 1)}
SINGLE = WINDOW | {"kernel": (1, 1)}
POINT = SINGLE | {"lanes": 16}
WIDE: dict[str, Any] = {"outputs": 96, "lanes": 16}


def _scaled(made: ir.Value, factor: ir.Value, image: ir.Value) -> Op:
    return tri.Add.build(tri.Mul.build(made, factor).y, image)


def _lanes(blocks: int, factor: str = "") -> Dynamic:
    operands = [f"N {blocks} H+2 W+2 16", f"{blocks} 9 1 16", str(16 * blocks)]
    extra = [factor or f"{blocks} 1 1 16", f"N {blocks} H W 16"]
    return Dynamic(cpu.LaneConv, operands, WINDOW, extra, _scaled)


def _blocked(channels: int, panels: int, rest: int = 0, **others: Any) -> Dynamic:
    outputs = 32 * panels + rest
    weights = f"{panels + bool(rest)} {16 * channels} 32"
    attributes = POINT | {"outputs": outputs} | others
    lanes = attributes["lanes"]
    blocks = outputs // lanes
    return Dynamic(
        cpu.BlockedConv,
        [f"N {channels} H W 16", weights, str(outputs)],
        attributes,
        [f"1 {blocks} 1 1 {lanes}", f"N {blocks} H W {lanes}"],
        _scaled,
    )


def _kernel(case: Dynamic, sizes: Mapping[str, int] | None = None) -> tuple[str, tuple[str, ...]]:
    """Return the name of the kernel of a case, which is a digest of its code, and its record."""
    machine = find_machine("x86-64-v3")
    with new_context(), ir.Location.unknown():
        module = module_of(build(case, sizes, "cpu"))
        kernel_pipeline(machine, False).run(module, verify=Verify.NONE)
        (made,) = kernel_modules(module)
        (group,) = [op for op in module.main_block.operations if op.operation.name == "tri.group"]
        return made.symbol, tuple(map(str, record_of(group.operation)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_lanes(2), _lanes(5)),
        (_blocked(2, 2), _blocked(3, 4)),
        (_blocked(2, 2, 16), _blocked(3, 4, 16)),
    ],
)
def test_kernels_for_other_numbers_of_channels_are_equal(one: Dynamic, other: Dynamic) -> None:
    (first, record), (second, other_record) = _kernel(one), _kernel(other)
    assert first == second
    assert record != other_record
    names = "".join((*record, *other_record))
    assert "_" not in names  # nothing of the shared form is in what callers see


@pytest.mark.parametrize(
    ("one", "other"),
    [(_blocked(2, 2), _blocked(2, 2, 16)), (_lanes(2), _lanes(2, "1 1 1 1 16"))],
)
def test_other_code_has_other_kernels(one: Dynamic, other: Dynamic) -> None:
    assert _kernel(one)[0] != _kernel(other)[0]


def test_kernels_of_known_sizes_keep_their_numbers() -> None:
    sizes = {"N": 1, "H": 7, "W": 7}
    assert _kernel(_lanes(2), sizes)[0] != _kernel(_lanes(5), sizes)[0]


def _twice(made: ir.Value) -> Op:
    (image, *_) = made.owner.operands
    return tri.Add.build(made, image)


@pytest.mark.parametrize(
    ("case", "shared"),
    [
        (_lanes(1), {}),
        (_lanes(2, "1 1 1 16"), {"_p2": 2}),
        (Dynamic(cpu.LaneConv, ["N 2 H W 16", "2 1 1 16", "32"], SINGLE, following=_twice), {}),
        (_blocked(3, 2), {"_c3": 3, "_p2": 2}),
        (_blocked(3, 2, 8, lanes=8), {"_c3": 3, "_p2": 2}),
        (_blocked(3, 0, 16), {"_c3": 3}),
        (_blocked(3, 1), {"_c3": 3, "_p1": 1}),
    ],
)
def test_what_is_shared(case: Dynamic, shared: Mapping[str, int]) -> None:
    with new_context(), ir.Location.unknown():
        group = build(case, None, "cpu")
        text = str(group.operation)
        form = shared_form(group)
        assert form.sizes == shared
        assert (form.group is group) == (not shared)
        assert str(group.operation) == text


def test_equal_results() -> None:
    cases = [
        _lanes(3),
        _lanes(2, "N 1 1 1 16"),
        _blocked(3, 2),
        _blocked(2, 1, 16),
        _blocked(1, 3),
        Dynamic(cpu.BlockedConv, ["N 5 H+2 W+2", "3 45 32", "96"], WINDOW | WIDE),
    ]
    sizes = [{"N": n, "H": h, "W": w} for n, h, w in ((1, 1, 1), (2, 3, 5), (1, 16, 17))]
    assert_equal_to_static(cases, sizes)
