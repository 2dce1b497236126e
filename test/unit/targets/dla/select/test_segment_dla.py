"""Segments: what they compute, how many there are, how they are called."""

import random

import numpy as np
import pytest
from trivium.dialects import dla, tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.location import node_names, value_names
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.dla.dialect import TensorOp
from trivium.passes.verify_values import VerifyValues
from trivium.targets.dla.select.segment_dla import SegmentDla

TYPE = "tensor<1x2x2x4xi8>"


def drawn(choose: random.Random) -> str:
    """Return a function of ops that run on an accelerator, or elsewhere, in any order."""
    lines, values, read = [], ["%x", "%y"], {"%x", "%y"}
    for number in range(choose.randint(1, 25)):
        a, b = choose.choices(values[-6:], k=2)
        what = choose.choice(
            [
                f'"dla.copy"({a}) : ({TYPE})',
                f'"dla.eltwise"({a}, {b}) {{operator = "max"}} : ({TYPE}, {TYPE})',
                f'"tri.bitwise_not"({a}) : ({TYPE})',
                f'"tri.add"({a}, {b}) : ({TYPE}, {TYPE})',
            ]
        )
        lines.append(f'%{number} = {what} -> {TYPE} loc("n{number}"("v{number}"))')
        read |= {value for value in (a, b) if value in what}
        values.append(f"%{number}")
    # What nobody reads is returned, so that nothing is in vain.
    returned = sorted({*values} - read | {*choose.choices(values, k=2)})
    types = ", ".join([TYPE] * len(returned))
    return "\n".join(
        [
            f"func.func @f(%x: {TYPE}, %y: {TYPE}) -> ({types}) {{",
            *lines,
            f"return {', '.join(returned)} : {types}",
            "}",
        ]
    )


def alternations(module: Module) -> int:
    """Return how often, at most, a road enters the accelerator: no fewer segments could do."""
    entered: dict[ir.Value, int] = {}
    inside: dict[ir.Value, bool] = {}
    for op in ops(module.main):
        here = isinstance(op, TensorOp)
        before = [
            entered[v] + (here and not inside[v]) for v in op.operation.operands if v in entered
        ]
        entered[op.results[0]] = max([int(here), *before])
        inside[op.results[0]] = here
    return max(entered.values())


@pytest.mark.parametrize("seed", range(60))
def test_segments_compute_the_same_and_are_as_few_as_can_be(seed: int) -> None:
    choose = random.Random(seed)
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-128, 128, (2, 1, 2, 2, 4), np.int8)
    with new_context():
        module = Module.parse(drawn(choose))
        fewest, expected = alternations(module), run(module, [x, y])
        SegmentDla().run(module)
        module.verify()
        VerifyValues().run(module)
        groups = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
        assert len(groups) == fewest
        parents = {op.operation.parent.name for op in ops(module.main) if isinstance(op, TensorOp)}
        assert parents <= {"tri.group"}
        for array, wanted in zip(run(module, [x, y]), expected, strict=True):
            np.testing.assert_array_equal(array, wanted)
        text = str(module)
        SegmentDla().run(module)
        assert str(module) == text


def test_a_group_is_named_after_the_values_that_leave_it() -> None:
    text = f"""
    func.func @f(%x: {TYPE}) -> ({TYPE}, {TYPE}) {{
      %a = "dla.copy"(%x) : ({TYPE}) -> {TYPE} loc("first"("a"))
      %b = "dla.copy"(%a) : ({TYPE}) -> {TYPE} loc("second"("b"))
      %c = "dla.copy"(%a) : ({TYPE}) -> {TYPE} loc("third")
      %d = "dla.copy"(%b) : ({TYPE}) -> {TYPE} loc("fourth"("d"))
      return %c, %d : {TYPE}, {TYPE}
    }}"""
    with new_context():
        module = Module.parse(text)
        SegmentDla().run(module)
        (group,) = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
        assert node_names(group.location) == ("first", "second", "third", "fourth")
        assert value_names(group.location) == ("", "d")
        inner = [op for op in ops(group.block) if isinstance(op, dla.Copy)]
        assert [value_names(op.location) for op in inner] == [("a",), ("b",), (), ("d",)]
        VerifyValues().run(module)


def test_what_has_no_name_gets_none() -> None:
    text = f"""
    func.func @f(%x: {TYPE}) -> {TYPE} {{
      %a = "dla.copy"(%x) : ({TYPE}) -> {TYPE} loc("first"("a"))
      %b = "dla.copy"(%a) : ({TYPE}) -> {TYPE} loc(unknown)
      return %b : {TYPE}
    }}"""
    with new_context():
        module = Module.parse(text)
        SegmentDla().run(module)
        (group,) = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
        assert node_names(group.location) == ("first",)
        assert value_names(group.location) == ()
