"""Sizes that a trace made constants, found where they meet sizes that are free.

    x is (1,T), the constant has 8 elements: add(@0,@1) needs T to be 8

`pnnx` runs a model on two shapes and writes `?` for the sizes that differ, so a size that the model
fixes was computed outside of the trace: `int(x.shape[1])` is a number for good.
"""

from collections.abc import Iterable

from ....dialects.core.errors import Unsupported
from ....dialects.core.sizes.atoms import Maximum, Size, terms_of
from ....dialects.core.sizes.checks import Check
from ....dialects.core.sizes.dim import symbols_of


def refuse_baked(checks: Iterable[Check]) -> None:
    """Raise Unsupported for a check that only one size, or a few, can pass."""
    for check in checks:
        if check.relation == "==" and _is_fixed(check.expression):
            names = ", ".join(symbols_of(check.expression))
            raise Unsupported(
                f"{check.message}, which fixes {names}: bind it, or compute from the shape of a "
                "tensor what is a constant in the trace"
            )


def _is_fixed(expression: Size) -> bool:
    """Return whether a sum that is 0 says what one product of sizes is."""
    products = [product for product in terms_of(expression) if product]
    return len(products) == 1 and not any(isinstance(atom, Maximum) for atom in products[0])
