"""Index equations such as `bij,bjk->bik`, for `tri.einsum` and its lowerings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.errors import Invalid
from ...core.sizes.atoms import Size, is_symbolic
from ...core.sizes.checks import need_same
from ...core.tensor import Shape, broadcast

_TERM = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")


@dataclass(frozen=True)
class Equation:
    """Hold the index letters of each input and of the output; `...` stands for the axes between."""

    inputs: tuple[str, ...]
    output: str

    @staticmethod
    def parse(text: str) -> "Equation":
        """Read an equation; without an arrow, the output has the letters that occur once, sorted.

        Raises Invalid for a text that is no equation, and for an output letter that no input has.
        """
        left, arrow, output = text.replace(" ", "").partition("->")
        inputs = tuple(left.split(","))
        for term in (*inputs, output):
            if not _TERM.fullmatch(term):
                raise Invalid(f"equation '{text}' has the term '{term}', must be letters")
        letters = "".join(inputs).replace(".", "")
        if not arrow:
            once = sorted(letter for letter in set(letters) if letters.count(letter) == 1)
            output = ("..." if "..." in left else "") + "".join(once)
        for letter in output.replace(".", ""):
            if letter not in letters or output.count(letter) > 1:
                raise Invalid(f"equation '{text}' has output index '{letter}' twice or in no input")
        return Equation(inputs, output)

    def output_shape(self, shapes: Sequence[Shape]) -> Shape:
        """Return the shape of the result; Invalid when the inputs' shapes do not fit."""
        if len(shapes) != len(self.inputs):
            raise Invalid(f"equation names {len(self.inputs)} inputs, there are {len(shapes)}")
        sizes: dict[str, Size] = {}
        ellipses: list[Shape] = []
        for term, shape in zip(self.inputs, shapes, strict=True):
            ellipses.append(_bind(term, shape, sizes))
        between = broadcast(*ellipses)
        before, dots, after = self.output.partition("...")
        middle = between if dots else ()
        return (*(sizes[i] for i in before), *middle, *(sizes[i] for i in after))


def _bind(term: str, shape: Shape, sizes: dict[str, Size]) -> Shape:
    """Record the size of each letter of a term, and return the axes that its ellipsis covers."""
    before, dots, after = term.partition("...")
    spare = len(shape) - len(before) - len(after)
    if spare < 0 or (spare and not dots):
        raise Invalid(f"term '{term}' names {len(before + after)} axes, input has {len(shape)}")
    named = (*shape[: len(before)], *shape[len(shape) - len(after) :])
    for letter, size in zip(before + after, named, strict=True):
        known = sizes.setdefault(letter, size)
        if size == 1:
            continue
        if known == 1 or is_symbolic(known):
            sizes[letter] = size
        if known != 1:
            fault = f"index '{letter}' has size {known} and {size}, must be the same"
            need_same(size, known, fault)
    return shape[len(before) : len(before) + spare]
