"""Sizes that are computed like any other number."""

from collections.abc import Sequence

from ...core.data_dependent import DataDependentOp
from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.sizes.atoms import Size
from ...core.tensor import Array, Tensor
from ..dialect import TriOp
from ..numeric import need_integer


class DefineSizes(DataDependentOp, TriOp):
    """Make the elements of `x` sizes, on which shapes below depend; return them as i64.

    `limits`, if any, has what each size is at most.
    """

    x: Operand
    sizes: tuple[int, ...]
    limits: tuple[int, ...] = ()
    y: Result

    found_sizes = ("sizes",)

    def infer(self, x: Tensor) -> Tensor:
        if need_integer(x).rank > 1 or x.size != len(self.sizes):
            raise Invalid(f"input is {x}, must be a list of {len(self.sizes)} numbers")
        if self.limits and len(self.limits) != len(self.sizes):
            raise Invalid(f"has {len(self.limits)} limits, must have {len(self.sizes)}")
        return Tensor(x.shape, "i64")

    def reference(self, x: Array) -> Array:
        for value, limit in zip(x.reshape(-1).tolist(), self.limits, strict=False):
            if value > limit:
                raise Invalid(f"finds size {value}, must be at most {limit}")
        return x.astype("int64")

    def most(self, x: Tensor) -> tuple[Size | None, ...]:
        return self.limits or (None,) * len(self.sizes)

    def find(self, operands: Sequence[Array], results: Sequence[Array]) -> tuple[int, ...]:
        return tuple(results[0].reshape(-1).tolist())
