"""The laws of sizes that depend on a run: symbols infer, refuse and print as their sizes do."""

from collections.abc import Iterator
from typing import Any

import pytest
from built_ops import built, completed
from examples import examples
from examples_cpu import CPU
from examples_math import MATH
from examples_moves import MOVES
from examples_networks import NETWORKS
from examples_nn import NN
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from symbolic import SIZES, Symbolic, other_sizes, symbolic_forms, with_sizes
from trivium.dialects import tri
from trivium.dialects.core.attributes import tensor_of
from trivium.dialects.core.errors import Invalid, Undecided
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Op
from trivium.dialects.core.sizes.binding import replaced, verify_checks
from trivium.dialects.core.sizes.checks import Check, collected_checks
from trivium.dialects.core.tensor import Tensor

EXAMPLES = MATH | MOVES | NETWORKS | NN | CPU
PARTLY_STATIC = {
    tri.Unbind: "has as many results as an axis has elements",
    tri.GatherNd: "has a result whose rank depends on the length of index tuples",
    tri.ScatterNd: "has updates whose rank depends on the length of index tuples",
    tri.Expression: "may compute numbers of sizes that are no sizes, such as roots",
}
"""Ops of which some sizes must be known at compile time, and why."""

OPS = [pytest.param(op, id=op.op_name) for op in EXAMPLES]
PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
LAW = settings(derandomize=True, deadline=None, max_examples=20, database=None, phases=PHASES)
TEXT = settings(LAW, max_examples=6)


@pytest.fixture(scope="module", autouse=True)
def context() -> Iterator[ir.Context]:
    with new_context() as context, ir.Location.unknown():
        yield context


def test_attributes_that_hold_sizes_are_those_of_ops() -> None:
    for op, names in SIZES.items():
        kinds = {field.name: field.type for field in op.fields.attributes}
        assert all(kinds[name] in (int, tuple[int, ...]) for name in names)


@pytest.mark.parametrize("op", OPS)
@LAW
@given(data=st.data())
def test_symbols_infer_the_types_that_their_sizes_do(op: type[Op], data: st.DataObject) -> None:
    example = data.draw(examples(EXAMPLES[op]))
    for form in symbolic_forms(op, example):
        if (found := inferred(op, form)) is None:
            continue
        results, checks = found
        verify_checks(checks, form.sizes)
        static = op(**form.attributes).at(form.sizes)
        assert static.attributes == completed(op, example.attributes)
        assert with_sizes(results, form.sizes) == as_tuple(static.infer(*example.types))


@pytest.mark.parametrize("op", OPS)
@LAW
@given(data=st.data())
def test_checks_accept_the_sizes_that_are_valid(op: type[Op], data: st.DataObject) -> None:
    for form in symbolic_forms(op, data.draw(examples(EXAMPLES[op]))):
        found = inferred(op, form)
        for sizes in other_sizes(form) if found else ():
            static, accepted = static_types(op, form, sizes), passes(found[1], sizes)
            if accepted:
                assert with_sizes(found[0], sizes) == static
            elif static is not None:
                assert 1 in sizes.values()  # symbols do not broadcast, sizes of 1 do


@pytest.mark.parametrize("op", OPS)
@TEXT
@given(data=st.data())
def test_text_keeps_symbols(op: type[Op], data: st.DataObject) -> None:
    forms = symbolic_forms(op, data.draw(examples(EXAMPLES[op])))
    if not forms:
        return
    form = data.draw(st.sampled_from(forms))
    if (found := inferred(op, form)) is None:
        return
    module = built(op, form.types, form.attributes, form.ranges)
    module.verify()
    text = str(module)
    with new_context(), ir.Location.unknown():
        parsed = Module.parse(text)
        assert str(parsed) == text
        (after,) = ops(parsed.operation)
        assert tuple(tensor_of(value.type) for value in after.results) == found[0]
        for name in SIZES.get(op, ()):
            assert after.attributes[name] == completed(op, form.attributes)[name]


def inferred(op: type[Op], form: Symbolic) -> tuple[tuple[Tensor, ...], list[Check]] | None:
    """Return the inferred types, and what is to be checked; None if a size must be static."""
    with collected_checks() as checks:
        try:
            results = as_tuple(op(**form.attributes).infer(*form.types))
        except Undecided as error:
            if op in PARTLY_STATIC and "must be known at compile time: bind " in str(error):
                return None
            raise
    return results, list(checks)


def static_types(op: type[Op], form: Symbolic, sizes: dict[str, int]) -> tuple[Tensor, ...] | None:
    """Return the types that sizes infer in place of symbols; None where they are invalid."""
    attributes = {name: replaced(value, sizes) for name, value in form.attributes.items()}
    try:
        return as_tuple(op(**attributes).infer(*with_sizes(form.types, sizes)))
    except Invalid:
        return None


def passes(checks: list[Check], sizes: dict[str, int]) -> bool:
    try:
        verify_checks(checks, sizes)
    except Invalid:
        return False
    return True


def as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
