"""Reports of free sizes, and the ranking of sizes that were observed."""

from pathlib import Path

import onnx
import onnx.parser
import pytest
import trivium
from trivium.compiler.sizes.observed import Observation, read_observed
from trivium.compiler.sizes.report import SizeReport, size_report
from trivium.targets.options import CompileOptions

ADD = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    net (float[N, T] x, float[N, S] m) => (float[N, T] y) { [join] y = Add (x, m) }"""
)


def report(model: onnx.ModelProto, *observed: Observation, **options: object) -> SizeReport:
    return size_report(model, CompileOptions(**options), observed)  # pyright: ignore


def test_free_sizes_have_the_places_that_give_them() -> None:
    made = report(
        onnx.parser.parse_model(
            """<ir_version: 10, opset_import: ["" : 21]>
            net (float[N, T] x, float[N] w) => (int64[2, n] z) { [find] z = NonZero (x) }"""
        ),
        shapes={"T": trivium.Range(8, 64, likely=16, step=8)},
    )
    assert [(each.name, str(each.range), each.places, each.is_found) for each in made.sizes] == [
        ("N", "1..:1", ("axis 0 of 'x'", "axis 0 of 'w'"), False),
        ("T", "8..64:16/8", ("axis 1 of 'x'",), False),
        ("u0", "0..:16", ("'tri.non_zero' of find",), True),
    ]


def test_sizes_are_ranked_by_frequency_and_what_a_program_of_their_own_saves() -> None:
    """Rare long runs are worth more than frequent short ones: the product grows with T * S."""
    product = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        net (float[T, 256] q, float[256, S] k) => (float[T, S] y) { y = MatMul (q, k) }"""
    )
    made = report(
        product,
        Observation("1", {"T": 8, "S": 8}, 50),
        Observation("2", {"q": (512, 256), "k.1": 512}, 3),
        Observation("3", {"T": 8, "k": (256, 8)}, 7),
        Observation("4", {"T": 512, "S": 512}),
    )
    assert [(each.option, each.runs) for each in made.exact] == [
        ("--exact S=512,T=512", 4),
        ("--exact S=8,T=8", 57),
    ]
    assert sum(each.part for each in made.exact) == pytest.approx(1)
    assert sum(each.saved for each in made.exact) == pytest.approx(0.02)


ATTENTION = """
func.func @main(%q: Q) -> Q attributes {trivium.symbols = {T = "1.."}, trivium.inputs = ["q"]} {
  %y = "tri.attention"(%q, %q, %q) {scale = 1.0, causal = false} : (Q, Q, Q) -> Q
  return %y : Q
}
""".replace(" Q", ' tensor<1x4x?x32xf32, ["", "", "T", ""]>').replace(
    "(Q", '(tensor<1x4x?x32xf32, ["", "", "T", ""]>'
)


def test_short_attention_is_worth_more_than_long(tmp_path: Path) -> None:
    (tmp_path / "net.mlir").write_text(ATTENTION)
    options = CompileOptions()
    for length, saved in ((64, 0.25), (65, 0.05)):
        made = size_report(tmp_path / "net.mlir", options, [Observation("1", {"T": length})])
        assert [each.saved for each in made.exact] == [pytest.approx(saved)]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"x": (2, 7), "m": (3, 7)}, "axis 0 of 'm' is 3, where N is 2"),
        (
            {"x": (2, 7), "m": (2, 6)},
            "join: 'Add' node has sizes S and T along axis -1, where S = 6, T = 7",
        ),
        ({"x": (2,)}, "'x' has rank 1, must have 2"),
        ({"y": (2, 1)}, "no input is named 'y': x, m"),
        ({"U": 3}, "'U' is no symbol and no axis of an input, such as N, S, T, x.0, m.0"),
        ({"x": (2, 7)}, "gives no size for S: S is unknown"),
        ({"x": (0, 7), "S": 7}, "N is 0, must be at least 1"),
    ],
)
def test_observations_that_do_not_fit_are_refused(sizes: dict[str, object], message: str) -> None:
    good = Observation("file:1", {"N": 1, "T": 2, "S": 2})
    with pytest.raises(trivium.CompileError) as caught:
        report(ADD, good, Observation("file:2", sizes))  # pyright: ignore
    assert str(caught.value) == f"file:2: error: {message}"


def test_a_model_of_known_sizes_has_nothing_to_be_exact() -> None:
    with pytest.raises(trivium.CompileError, match="the model has no free sizes that inputs give"):
        report(ADD, Observation("1", {"N": 1}), shapes={"N": 1, "T": 2, "S": 2})


def test_files_of_lines_and_tables_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text('{"x": [2, 7], "S": 7, "count": 3}\n\n{"T": 1}\n')
    (tmp_path / "runs.csv").write_text("x.0,x.1,S,count\n2,7,7,3\n")
    lines, table = (read_observed(tmp_path / f"runs.{end}") for end in ("jsonl", "csv"))
    assert [(each.sizes, each.count) for each in lines] == [
        ({"x": (2, 7), "S": 7}, 3),
        ({"T": 1}, 1),
    ]
    assert [(each.sizes, each.count) for each in table] == [({"x.0": 2, "x.1": 7, "S": 7}, 3)]
    assert lines[1].where == f"{tmp_path}/runs.jsonl:3"


def test_all_faulty_lines_are_listed(tmp_path: Path) -> None:
    text = '[1]\n{"x": "a"}\n{"count": 0}\n{"x": [1, -1]}\n{'
    (tmp_path / "runs.jsonl").write_text(text)
    with pytest.raises(trivium.CompileError) as caught:
        read_observed(tmp_path / "runs.jsonl")
    assert [str(each).partition(": error: ")[2] for each in caught.value.diagnostics][:4] == [
        'is not an object such as {"x": [1, 128]}',
        "'x' is 'a', must be a size or a list of sizes",
        "'count' is 0, must be a number from 1 on",
        "'x' is [1, -1], must be a size or a list of sizes",
    ]
    assert len(caught.value.diagnostics) == 5
    (tmp_path / "empty.csv").write_text("T\n")
    with pytest.raises(trivium.CompileError, match="has no sizes, must have a line for each run"):
        read_observed(tmp_path / "empty.csv")
    with pytest.raises(trivium.CompileError, match=r"cannot read '.*none\.csv': No such file"):
        read_observed(tmp_path / "none.csv")
