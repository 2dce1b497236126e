"""Text in models: compiled, packed, and run in sessions, against ONNX Runtime."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.tensor import Array

ort = pytest.importorskip("onnxruntime")

WORDS = ["apple", "", "Zwiebel", "naïve \u4e2d\u6587", 'quo"te\\', "apple", "a  b\tc", "a,b,,c"]


def text(*words: str, shape: tuple[int, ...] = (-1,)) -> Array:
    return np.array(words, object).reshape(shape)


def check(body: str, *feeds: Mapping[str, Array], opset: int = 20) -> None:
    """Assert that one package of a graph computes what ONNX Runtime computes, for all feeds."""
    header = f'<ir_version: 8, opset_import: ["" : {opset}, "ai.onnx.ml" : 3]>\n'
    model = onnx.parser.parse_model(header + body)
    theirs = ort.InferenceSession(model.SerializeToString())
    ours = trivium.compile(model)
    for given in feeds:
        for a, b in zip(ours.run(given).values(), theirs.run(None, dict(given)), strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_array_equal(a, b)


def test_normalizer_leaves_out_stop_words() -> None:
    for options in (
        'case_change_action = "LOWER", stopwords = ["Apple"]',
        'case_change_action = "UPPER", stopwords = ["apple", "a,b,,c"], is_case_sensitive = 1',
        'stopwords = ["apple", ""]',
    ):
        given = f'{options}, locale = "C"'
        body = f"main (string[C] x) => (string[D] y) {{ y = StringNormalizer<{given}>(x) }}"
        check(
            body,
            {"x": text(*(word for word in WORDS if word.isascii()))},
            {"x": text("apple", "apple")},
            {"x": text("")},
        )


def test_concat_broadcasts() -> None:
    body = "main (string[N, 1] x, string[M] y) => (string[N, M] z) { z = StringConcat(x, y) }"
    check(body, {"x": text("a", "", shape=(2, 1)), "y": text(*WORDS)})


@pytest.mark.parametrize("options", ["", '<delimiter = ",">', "<maxsplit = 1>"])
def test_split(options: str) -> None:
    """ONNX Runtime splits neither at tabs nor empty strings, which ONNX does."""
    results = "string[N, P] y, int64[N] c"
    body = f"main (string[N] x) => ({results}) {{ y, c = StringSplit{options}(x) }}"
    words = [word for word in WORDS if word and "\t" not in word]
    check(body, {"x": text(*words)}, {"x": text("a b c d", "e")})


def test_regular_expressions() -> None:
    body = 'main (string[N] x) => (bool[N] y) { y = RegexFullMatch<pattern = "[a-z]+ ?.*">(x) }'
    check(body, {"x": text(*WORDS)})


def test_elements_move_and_compare() -> None:
    """Constants, gathering, joining, choosing and comparing."""
    body = """main (string[2, N] x, int64[K] i) => (string[M, 2] y, bool[K] same) {
        t = Transpose<perm = [1, 0]>(x)
        table = Constant<value_strings = ["apple", "", "Zwiebel"]>()
        first = Constant<value_ints = [0]>()
        g = Gather(table, i)
        word = Constant<value_string = "apple">()
        same = Equal(g, word)
        chosen = Where(same, word, g)
        column = Unsqueeze(chosen, one)
        both = Concat<axis = 1>(column, column)
        y = Concat<axis = 0>(t, both)
    }""".replace("first = Constant<value_ints = [0]>()", "one = Constant<value_ints = [1]>()")
    x = text(*WORDS, shape=(2, 4))
    check(body, {"x": x, "i": np.array([0, 2, 1, 0])}, {"x": x[:, :1], "i": np.array([1])})


def test_numbers_become_text_and_text_numbers() -> None:
    numbers = np.array([3.14, 1, -0.0, 1e-7, 1e20, np.nan, np.inf, -np.inf, 1 / 3], np.float32)
    check("main (float[N] x) => (string[N] y) { y = Cast<to = 8>(x) }", {"x": numbers})
    check("main (int64[N] x) => (string[N] y) { y = Cast<to = 8>(x) }", {"x": np.array([3, -5])})
    check("main (bool[N] x) => (string[N] y) { y = Cast<to = 8>(x) }", {"x": np.eye(2)[0] == 1})
    spelled = text("3.14", "1e-7", "NaN", "INF", "-inf", "  2", "+3")
    check("main (string[N] x) => (float[N] y) { y = Cast<to = 1>(x) }", {"x": spelled})
    integers = {"x": text("3", "-5", " 7")}
    check("main (string[N] x) => (int64[N] y) { y = Cast<to = 7>(x) }", integers)
    check("main (string[N] x) => (uint8[N] y) { y = Cast<to = 2>(x) }", {"x": text("3", "300")})


def test_what_is_no_number_is_an_error() -> None:
    header = '<ir_version: 8, opset_import: ["" : 17]>\n'
    body = "main (string[N] x) => (float[N] y) { y = Cast<to = 1>(x) }"
    session = trivium.compile(onnx.parser.parse_model(header + body))
    with pytest.raises(Invalid, match="casts 'three' to a float, must be a number"):
        session.run({"x": text("three")})


def test_label_encoder() -> None:
    node = 'ai.onnx.ml.LabelEncoder<keys_strings = ["apple", "Zwiebel"], values_int64s = [7, 9]>'
    body = f"main (string[N] x) => (int64[N] y) {{ y = {node}(x) }}"
    check(body, {"x": text(*WORDS)})
    node = 'ai.onnx.ml.LabelEncoder<keys_int64s = [5, -3], values_strings = ["five", "less"]>'
    body = f"main (int64[N] x) => (string[N] y) {{ y = {node}(x) }}"
    check(body, {"x": np.array([-3, 4, 5])})


def test_tf_idf_of_words() -> None:
    """Pairs and single words are counted."""
    pool = 'pool_strings = ["apple", "b", "c", "apple", "b", "b", "c"]'
    grams = "ngram_counts = [0, 3], ngram_indexes = [0, 1, 2, 3, 4], max_skip_count = 1"
    options = f'min_gram_length = 1, max_gram_length = 2, mode = "TF", {grams}, {pool}'
    body = f"main (string[6] x) => (float[5] y) {{ y = TfIdfVectorizer<{options}>(x) }}"
    check(body, {"x": text("apple", "b", "c", "apple", "c", "b")})


def test_a_package_keeps_its_text(tmp_path: Path) -> None:
    header = '<ir_version: 8, opset_import: ["" : 20]>\n'
    body = """main (string[N] x) => (string[N] y) {
        end = Constant<value_string = " \u4e2d">()  y = StringConcat(x, end) }"""
    trivium.compile(onnx.parser.parse_model(header + body)).save(tmp_path / "m.trv")
    session = trivium.load(tmp_path / "m.trv")
    assert session.inputs[0].dtype == "object"
    for given in (np.array(["a", "b"]), ["a", "b"], np.array(["a", "b"], np.dtypes.StringDType())):
        assert session.run({"x": given})["y"].tolist() == ["a \u4e2d", "b \u4e2d"]
    assert session.clone().run({"x": ["c"]})["y"].tolist() == ["c \u4e2d"]


def test_runs_do_not_keep_the_text_of_others() -> None:
    header = '<ir_version: 8, opset_import: ["" : 20]>\n'
    body = "main (string[N] x) => (string[N] y) { y = StringConcat(x, x) }"
    session = trivium.compile(onnx.parser.parse_model(header + body))
    for i in range(300):
        session.run({"x": [str(i)]})
    assert len(session._memory.strings._known) < 10


def test_feeds_of_other_types_are_refused() -> None:
    header = '<ir_version: 8, opset_import: ["" : 20]>\n'
    body = "main (string[N] x) => (string[N] y) { y = StringConcat(x, x) }"
    session = trivium.compile(onnx.parser.parse_model(header + body))
    with pytest.raises(trivium.RunError, match=r"input 'x' .* holds a int, must hold strings"):
        session.run({"x": np.array([3], object)})
    with pytest.raises(trivium.RunError, match=r"input 'x' .* is float64, must hold strings"):
        session.run({"x": np.zeros(3)})
    with pytest.raises(trivium.RunError, match="output 'y' has text"):
        session.run({"x": ["a"]}, {"y": np.empty(1, object)})
    with pytest.raises(trivium.RunError, match="has text, which is not kept from run to run"):
        session.bind_state({"y": "x"})


def test_numbers_are_not_made_of_text() -> None:
    header = '<ir_version: 8, opset_import: ["" : 20]>\n'
    body = "main (string[N] x) => (string[N] y) { y = Abs(x) }"
    with pytest.raises(CompileError):
        trivium.compile(onnx.parser.parse_model(header + body))
