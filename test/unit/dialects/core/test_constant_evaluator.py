"""Values that depend on no input are found, each op being looked at once."""

import random

import pytest
from trivium.dialects import tri as tri
from trivium.dialects.core.interpret import ConstantEvaluator
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Op

TYPE = "tensor<2xf32>"
COUNT = 300


class Counting(ConstantEvaluator):
    """Count how often it is asked whether an op can be computed."""

    asked = 0

    def evaluates(self, op: Op) -> bool:
        self.asked += 1
        return super().evaluates(op)


def network(seed: int) -> tuple[str, list[bool]]:
    """Return sums of values before, each of an input, a constant or a sum; which are constant."""
    picks, constant = random.Random(seed), [True]
    lines = [f'%0 = "tri.constant"() {{value = dense<1.0> : {TYPE}}} : () -> {TYPE}']
    for number in range(1, COUNT):
        a, b = (picks.randrange(max(0, number - 9), number) for _ in range(2))
        other = picks.random() < 0.02
        names = ["%x" if other else f"%{a}", f"%{b}"]
        lines.append(f'%{number} = "tri.add"({", ".join(names)}) : ({TYPE}, {TYPE}) -> {TYPE}')
        constant.append(constant[b] and constant[a] and not other)
    body = "\n".join([*lines, f"return %{COUNT - 1} : {TYPE}"])
    return f"func.func @main(%x: {TYPE}) -> {TYPE} {{\n{body}\n}}", constant


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("backwards", [False, True])
def test_constants_are_found_and_each_op_is_looked_at_once(seed: int, backwards: bool) -> None:
    text, wanted = network(seed)
    with new_context():
        module = Module.parse(text)
        made = [op.results[0] for op in ops(module.operation) if op.results]
        asked = list(zip(made, wanted, strict=True))
        evaluator = Counting({})
        for value, expected in reversed(asked) if backwards else asked:
            assert evaluator.is_constant(value) == expected
        assert 0 < sum(wanted) < COUNT
        before = evaluator.asked
        assert before <= COUNT
        for value, expected in asked:
            assert evaluator.is_constant(value) == expected
        assert evaluator.asked == before
        evaluator.forget()
        assert evaluator.is_constant(made[0])
        assert evaluator.asked == before + 1
