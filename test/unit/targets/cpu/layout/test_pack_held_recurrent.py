"""Recurrent layers whose weights may be updated: they are packed by ops that run at load."""

import numpy as np
from trivium.dialects import cpu, tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.targets.cpu.layout.pack_recurrent import PackRecurrent

SHAPES = {"w": (2, 96, 7), "r": (2, 96, 5), "b": (2, 192), "p": (2, 5, 24)}
TYPES = {name: f"tensor<{'x'.join(map(str, shape))}xf32>" for name, shape in SHAPES.items()}
SIZES = "array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 1>"
RESULTS = ("tensor<6x2x2x5xf32>", "tensor<2x2x5xf32>", "tensor<2x2x24xf32>")

IR = "\n".join(
    [
        f"func.func @main(%x: tensor<6x2x7xf32>) -> ({', '.join(RESULTS)}) {{",
        *(
            f'  %{name} = "tri.weight"() {{name = "{name}", type = {type_}}} : () -> {type_}'
            for name, type_ in TYPES.items()
        ),
        '  %y, %h, %c = "tri.lstm"(%x, %w, %r, %b, %p) {hidden_size = 24, '
        f'direction = "bidirectional", operandSegmentSizes = {SIZES}}}',
        f"      : (tensor<6x2x7xf32>, {', '.join(TYPES.values())}) -> ({', '.join(RESULTS)})",
        f"  return %y, %h, %c : {', '.join(RESULTS)}",
        "}",
    ]
)


def test_projections_of_states_are_packed_where_they_may_be_updated() -> None:
    random = np.random.default_rng(0)
    weights = {n: random.normal(size=s).astype(np.float32) / 4 for n, s in SHAPES.items()}
    x = random.normal(size=(6, 2, 7)).astype(np.float32)
    with new_context():
        plain = Module(ir.Module.parse(IR), dict(weights))
        wanted = run(plain, [x])
        held = Module(ir.Module.parse(IR), {}, refit=dict(weights))
        PackRecurrent("x86-64-v3").run(held)
        held.operation.verify()
        kinds = {type(op) for op in ops(held.main)}
        assert cpu.PackedLstm in kinds
        assert tri.Lstm not in kinds
        assert not held.weights, "nothing is computed of weights that may be updated"
        held.weights.update(held.refit)
        for got, want in zip(run(held, [x]), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
