"""Random expressions, typed so that every function takes its arguments; and ops of these."""

from dataclasses import dataclass
from typing import Any

from examples import ANY, Example, Pick
from trivium.dialects import expression
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.tensor import Tensor
from trivium.dialects.expression import FUNCTIONS, SIZE
from trivium.dialects.expression.promotion import PNNX_DTYPES

LITERALS = ("0", "1", "2", "-3", "7", "0.5", "-1.5", "2.0", "1e-05", "True", "False")
DTYPES = tuple(dtype for dtype in ANY if dtype in PNNX_DTYPES)


@dataclass(frozen=True)
class Term:
    """Hold the text of a part of an expression and its type."""

    text: str
    type: Any


class Grower:
    """Grow an expression of operands of given types, part by part."""

    def __init__(self, pick: Pick, operands: list[Tensor]) -> None:
        self.pick = pick
        self.operands = operands
        self.terms = [self.leaf() for _ in range(pick.between(1, 4))]

    def leaf(self) -> Term:
        pick = self.pick
        index = pick.between(0, len(self.operands) - 1)
        tensor = self.operands[index]
        match pick.between(0, 4):
            case 0:
                text = pick.one(*LITERALS)
                return Term(text, expression.parse(text).roots[0].symbol.value)
            case 1 if tensor.shape:
                axis = pick.axis(tensor.rank)
                return Term(f"size(@{index},{axis})", tensor.shape[axis])
            case _:
                return Term(f"@{index}", tensor)

    def grow(self) -> None:
        """Apply a function to parts that are there, if it takes them."""
        function = FUNCTIONS[self.pick.one(*(name for name in FUNCTIONS if name != SIZE.name))]
        chosen = [self.pick.one(*self.terms) for _ in range(function.arity)]
        try:
            made = expression.infer(function, [term.type for term in chosen])
        except Invalid:
            made = None
        text = self.spelled(function.name, [term.text for term in chosen])
        small = not isinstance(made, float) or abs(made) < 1e6
        self.terms.append(self.leaf() if made is None or not small else Term(text, made))

    def spelled(self, name: str, arguments: list[str]) -> str:
        """Write a call as files do: with brackets, or with none."""
        match self.pick.between(0, 3):
            case 0:
                return " ".join([name, *arguments])
            case 1:
                return f"{name},{arguments[0]}" + "".join(f",,{text}" for text in arguments[1:])
            case _:
                return f"{name}({','.join(arguments)})"


def expression_text(pick: Pick, operands: list[Tensor]) -> str:
    grower = Grower(pick, operands)
    for _ in range(pick.between(0, 8)):
        grower.grow()
    if pick.between(0, 9) == 0:
        listed = [t.text for t in grower.terms if not (isinstance(t.type, Tensor) and t.type.shape)]
        return f"[{','.join(listed)}]"
    return grower.terms[-1].text


def expressions(pick: Pick) -> Example:
    """Make an expression of one to three tensors that broadcast to each other."""
    shape = pick.shape()
    arrays = [pick.array(pick.narrowed(shape), *DTYPES) for _ in range(pick.between(1, 3))]
    return Example((arrays,), {"expr": expression_text(pick, [Tensor.of(a) for a in arrays])})
