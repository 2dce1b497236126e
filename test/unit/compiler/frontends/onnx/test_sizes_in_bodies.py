"""Bodies of branches and loops whose ops find sizes, against ONNX Runtime."""

import onnx.parser
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.symbol_table import symbols_of_function

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'


def test_a_branch_that_cannot_run_leaves_no_sizes() -> None:
    model = onnx.parser.parse_model(
        HEADER
        + """
    main (float[2, 3] x, bool c) => (float[2, 3] y) <float[4, 3] w = {0}> {
        y = If (c) <
            then_branch = then () => (float[a, b] d) {
                found = NonZero (x)  wide = Cast <to = 1> (found)  d = MatMul (x, w)
            },
            else_branch = other () => (float[2, 3] e) { e = Neg (x) }
        >
    }"""
    )
    with new_context():
        assert not symbols_of_function(import_onnx(model).main)
