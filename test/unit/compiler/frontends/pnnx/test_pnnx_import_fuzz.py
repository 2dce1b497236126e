"""Operators that were changed at random: imported, or refused with a CompileError."""

import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from pnnx_suite import CASES, needs_suite
from trivium.compiler.frontends.pnnx import read_pnnx
from trivium.compiler.frontends.pnnx import rules as rules
from trivium.compiler.frontends.pnnx.importer import import_pnnx
from trivium.compiler.frontends.torch.registry import RULES
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context

ROUNDS = 250
VALUES = (
    *("None", "True", "False", "0", "1", "-1", "2", "3", "64", "-3", "2147483647", "99999999"),
    *("9223372036854775807", "0.0", "0.5", "-1.5", "1e30", "nan", "inf", "1.0e+00+2.0e+00j"),
    *("(1)", "(1,1)", "(0,0)", "(2,2)", "(3,3,3)", "(-1,-1)", "(1,2,3,4,5,6,7)", "()"),
    *("(100000,100000,100000)", "(9223372036854775807)", "(0.5)", "(a,b)", "(None,1)"),
    *("same", "valid", "bilinear", "reflect", "torch.float", "torch.bool", "constant", "zeros"),
    *("[@0]", "@0", "[None]", "[[1],[2]]", "[[1.5]]", "[[1,[2]]]", "add(@0,1)", "size(@0)", "%x"),
)
SHAPES = ("(1)", "()", "(0)", "(2,3)", "(2,3,4,5)", "(?,3)", "(1,2,3)")
DTYPES = ("f32", "i64", "f64", "f16", "i8", "u8", "bool", "c64", "bf16")

Mutation = Callable[[random.Random, list[str], int, int], None]
"""Change the tokens of an operator that has so many inputs, and so many inputs and outputs."""


def _parameters(tokens: list[str], first: int) -> list[int]:
    return [i for i in range(first, len(tokens)) if tokens[i][0] not in "#@$"]


def set_parameter(pick: random.Random, tokens: list[str], inputs: int, operands: int) -> None:
    if found := _parameters(tokens, 4 + operands):
        index = pick.choice(found)
        tokens[index] = f"{tokens[index].split('=')[0]}={pick.choice(VALUES)}"


def drop_parameter(pick: random.Random, tokens: list[str], inputs: int, operands: int) -> None:
    if found := _parameters(tokens, 4 + operands):
        del tokens[pick.choice(found)]


def set_type(pick: random.Random, tokens: list[str], inputs: int, operands: int) -> None:
    tokens[0] = pick.choice(sorted(RULES))


def set_input(pick: random.Random, tokens: list[str], inputs: int, operands: int) -> None:
    if inputs:
        tokens[4 + pick.randrange(inputs)] = str(pick.randrange(20))


def set_slot(pick: random.Random, tokens: list[str], inputs: int, operands: int) -> None:
    if found := [i for i in range(4 + operands, len(tokens)) if tokens[i].startswith("$")]:
        index = pick.choice(found)
        slot = pick.choice(("input", "other", "weight", "dim", "x"))
        tokens[index] = f"${slot}={tokens[index].split('=')[1]}"


MUTATIONS: tuple[Mutation, ...] = (
    *(set_parameter,) * 5,
    drop_parameter,
    set_type,
    set_input,
    set_slot,
)


def mutated(pick: random.Random, text: str) -> str:
    """Change one or two operators of a graph, or the type of an operand wherever it stands."""
    lines = text.split("\n")
    for _ in range(pick.randint(1, 2)):
        index = pick.randrange(2, len(lines) - 1)
        tokens = lines[index].split()
        inputs, outputs = int(tokens[2]), int(tokens[3])
        pick.choice(MUTATIONS)(pick, tokens, inputs, inputs + outputs)
        lines[index] = " ".join(tokens)
    text = "\n".join(lines)
    if pick.random() < 0.2:
        name = re.escape(f"#{pick.randrange(8)}=")
        text = re.sub(rf"({name})\S+", rf"\g<1>{pick.choice(SHAPES)}{pick.choice(DTYPES)}", text)
    return text


@needs_suite
@pytest.mark.parametrize("seed", range(8))
def test_changed_operators_are_imported_or_refused(seed: int) -> None:
    pick = random.Random(seed)
    outcomes = {True: 0, False: 0}
    for _ in range(ROUNDS):
        case = pick.choice(CASES)
        text = mutated(pick, (case / "model.pnnx.param").read_text())
        outcomes[imports(text, case / "model.pnnx.bin")] += 1
    assert min(outcomes.values()) > 0


def imports(text: str, weights: Path) -> bool:
    try:
        graph = read_pnnx(text, weights)
        with new_context(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import_pnnx(graph)
    except CompileError:
        return False
    return True
