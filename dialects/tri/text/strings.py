"""Ops on strings. Arrays of text have Python strings as elements."""

import re
from collections.abc import Sequence

import numpy as np

from ...core.data_dependent import DataDependentOp
from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.sizes.atoms import Size
from ...core.sizes.dim import highest
from ...core.tensor import STRING, Array, Tensor, broadcast
from ..dialect import TriOp
from ..numeric import need_string


class StringConcat(TriOp):
    """Join each string of `a` with one of `b`; the two broadcast. Source: ONNX `StringConcat`."""

    a: Operand
    b: Operand
    y: Result

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        return Tensor(broadcast(need_string(a).shape, need_string(b).shape), STRING)

    def reference(self, a: Array, b: Array) -> Array:
        return np.asarray(a + b, object)


class StringSplit(DataDependentOp, TriOp):
    """Split each string at a delimiter, at most `maxsplit` times unless that is negative.

    An empty delimiter is any run of whitespace. `y` has the parts along a last axis, behind which
    are empty strings; `counts` is how many parts each string has. Source: ONNX `StringSplit`.
    """

    x: Operand
    parts: int
    delimiter: str = ""
    maxsplit: int = -1
    y: Result
    counts: Result

    found_sizes = ("parts",)

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return Tensor((*need_string(x).shape, self.parts), STRING), Tensor(x.shape, "i64")

    def reference(self, x: Array) -> tuple[Array, Array]:
        split = [text.split(self.delimiter or None, self.maxsplit) for text in x.reshape(-1)]
        counts = np.array([len(parts) for parts in split], np.int64).reshape(x.shape)
        y = np.full((x.size, counts.max(initial=0)), "", object)
        for row, parts in zip(y, split, strict=True):
            row[: len(parts)] = parts
        return y.reshape(*x.shape, y.shape[1]), counts

    def most(self, x: Tensor) -> tuple[Size | None]:
        return (None if self.maxsplit < 0 else self.maxsplit + 1,)

    def find(self, operands: Sequence[Array], results: Sequence[Array]) -> tuple[int]:
        return (results[0].shape[-1],)


CASES = ("lower", "upper", "none")
"""How letters change."""


class StringNormalize(DataDependentOp, TriOp):
    """Leave out stop words, and change the case of all others.

    `x` is [strings] or [1, strings]. Unless `case_sensitive`, stop words are left out in any case.
    One empty string is left where no other is. Source: ONNX `StringNormalizer`.
    """

    x: Operand
    count: int
    case: str = "none"
    case_sensitive: bool = False
    stopwords: tuple[str, ...] = ()
    y: Result

    found_sizes = ("count",)

    def infer(self, x: Tensor) -> Tensor:
        need_one_of("case", self.case, CASES)
        if x.rank not in (1, 2) or x.shape[:-1] not in ((), (1,)):
            raise Invalid(f"input is {x}, must be of shape [strings] or [1, strings]")
        return Tensor((*need_string(x).shape[:-1], self.count), STRING)

    def reference(self, x: Array) -> Array:
        alike = str if self.case_sensitive else str.lower
        stopwords = {alike(word) for word in self.stopwords}
        change = {"lower": str.lower, "upper": str.upper, "none": str}[self.case]
        kept = [change(text) for text in x.reshape(-1) if alike(text) not in stopwords] or [""]
        return np.array(kept, object).reshape(*x.shape[:-1], len(kept))

    def most(self, x: Tensor) -> tuple[Size]:
        return (highest(x.shape[-1], 1),)

    def find(self, operands: Sequence[Array], results: Sequence[Array]) -> tuple[int]:
        return (results[0].shape[-1],)


class RegexFullMatch(TriOp):
    """Report of each string whether a regular expression matches all of it.

    The syntax is that of Python's `re`, in which most expressions of RE2 mean the same. Source:
    ONNX `RegexFullMatch`.
    """

    x: Operand
    pattern: str
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        try:
            re.compile(self.pattern)
        except re.error as fault:
            raise Invalid(f"has pattern '{self.pattern}': {fault}") from None
        return Tensor(need_string(x).shape, "i1")

    def reference(self, x: Array) -> Array:
        matches = re.compile(self.pattern).fullmatch
        found = [matches(text) is not None for text in x.reshape(-1)]
        return np.array(found, bool).reshape(x.shape)
