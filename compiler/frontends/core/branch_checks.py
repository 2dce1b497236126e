"""What must hold of sizes in a branch, in the runs that take it alone."""

from collections.abc import Sequence

from ....dialects import tri
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.checks import Check
from .main_function import MainFunction
from .sizes.found_sizes import FoundSizes
from .values import cast


def guard_branches(
    main: MainFunction, condition: ir.Value, checks: Sequence[Sequence[Check]]
) -> None:
    """Check sizes for each of two branches in runs that take it.

    The condition becomes a size for this: 1 where the first branch is taken.
    """
    if not any(checks):
        return
    number = tri.Reshape.build(cast(condition, "i64"), shape=(1,)).y
    (taken,) = FoundSizes(main).define(number, [1])
    for each, factor in zip(checks, (taken, 1 - taken), strict=True):
        for check in each:
            main.add_check(check, factor)
