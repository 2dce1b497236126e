"""Random numbers: their statistics, as numpy computes them, and what a seed fixes."""

import numpy as np
import onnx
import onnx.parser
import pytest
import trivium


def session(text: str) -> trivium.Session:
    head = '<ir_version: 10, opset_import: ["" : 22]>'
    return trivium.compile(onnx.parser.parse_model(f"{head} g {text}"))


def uniform(attributes: str = "") -> trivium.Session:
    return session(
        f"() => (float[200, 500] y) {{ y = RandomUniform <shape = [200, 500]{attributes}> () }}"
    )


def test_uniform_numbers_are_even_and_independent() -> None:
    drawn = uniform()
    first, second = (drawn.run({})["y"].astype(np.float64).reshape(-1) for _ in range(2))
    for y in (first, second):
        assert 0 <= y.min() < 1e-4
        assert 1 - 1e-4 < y.max() < 1
        # Of 100 cells, chi squared has mean 99 and deviation 14.
        counts = np.histogram(y, 100, (0, 1))[0]
        assert ((counts - 1000) ** 2 / 1000).sum() < 99 + 5 * 14
        for lag in (1, 2, 500):
            assert abs(np.corrcoef(y[:-lag], y[lag:])[0, 1]) < 5 / np.sqrt(y.size)
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(first.size)


def test_the_bits_of_uniform_numbers_are_even() -> None:
    bits = (uniform().run({})["y"].reshape(-1) * 2**24).astype(np.int64)
    for bit in range(24):
        assert abs((bits >> bit & 1).mean() - 0.5) < 5 * 0.5 / np.sqrt(bits.size)


@pytest.mark.parametrize("dtype", ["float", "double", "float16"])
def test_normal_numbers_have_mean_and_deviation(dtype: str) -> None:
    code = {"float": 1, "double": 11, "float16": 10}[dtype]
    drawn = session(
        f"""(float[400, 250] x) => ({dtype}[400, 250] y) {{
            y = RandomNormalLike <dtype = {code}, mean = 3.0, scale = 2.0> (x)
        }}"""
    )
    y = drawn.run({"x": np.zeros((400, 250), np.float32)})["y"].astype(np.float64)
    z = (y.reshape(-1) - 3) / 2
    n = z.size
    assert abs(z.mean()) < 5 / np.sqrt(n)
    assert abs(z.var() - 1) < 5 * np.sqrt(2 / n)
    assert abs((z**3).mean()) < 5 * np.sqrt(15 / n)
    assert abs((z**4).mean() - 3) < 5 * np.sqrt(96 / n)


def test_each_run_draws_others_and_each_session_the_same() -> None:
    one, two = uniform(), uniform()
    first, second = one.run({})["y"], one.run({})["y"]
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(two.run({})["y"], first)
    np.testing.assert_array_equal(one.clone().run({})["y"], first)
    one.reset_state()
    np.testing.assert_array_equal(one.run({})["y"], first)
    one.restore_state({"random.run": np.array(1)})
    np.testing.assert_array_equal(one.run({})["y"], second)
    one.restore_state({"random.run": np.array(1 << 20)})
    assert not np.array_equal(one.run({})["y"], first)


def test_a_seed_gives_other_numbers() -> None:
    drawn = [uniform(each).run({})["y"] for each in ("", ", seed = 1.0", ", seed = 2.0")]
    again = uniform(", seed = 2.0").run({})["y"]
    np.testing.assert_array_equal(drawn[2], again)
    assert abs(np.corrcoef(np.reshape(drawn, (3, -1)))[np.triu_indices(3, 1)]).max() < 0.02


def test_two_nodes_draw_different_numbers() -> None:
    drawn = session(
        """() => (double[1000] a, double[1000] b) {
            a = RandomUniform <shape = [1000], dtype = 11> ()
            b = RandomUniform <shape = [1000], dtype = 11, low = -2.0> ()
        }"""
    ).run({})
    assert abs(np.corrcoef(drawn["a"], drawn["b"])[0, 1]) < 5 / np.sqrt(1000)
    assert -2 <= drawn["b"].min() < -1.9


def test_bernoulli_has_the_probabilities() -> None:
    p = np.linspace(0, 1, 5, dtype=np.float32)[:, None].repeat(20000, 1)
    drawn = session("(float[5, N] p) => (float[5, N] y) { y = Bernoulli (p) }")
    y = drawn.run({"p": p})["y"]
    assert set(np.unique(y)) == {0, 1}
    np.testing.assert_allclose(y.mean(1), p[:, 0], atol=5 * 0.5 / np.sqrt(20000))
    assert y[0].max() == 0
    assert y[4].min() == 1


def test_multinomial_has_the_probabilities() -> None:
    p = np.array([[0.1, 0.2, 0.3, 0.4], [0.0, 0.97, 0.03, 0.0]], np.float32)
    with np.errstate(divide="ignore"):
        logs = np.log(p) + 7
    drawn = session(
        """(float[B, C] x) => (int64[B, 50000] y) {
            y = Multinomial <dtype = 7, sample_size = 50000> (x)
        }"""
    )
    y = drawn.run({"x": logs})["y"]
    for row, expected in zip(y, p, strict=True):
        counts = np.bincount(row, minlength=4)
        np.testing.assert_allclose(counts / 50000, expected, atol=5 * 0.5 / np.sqrt(50000))
        assert not counts[expected == 0].any()


def test_dropout_in_training_keeps_the_mean() -> None:
    drawn = session(
        """(float[N] x) => (float[N] y, bool[N] kept) <float ratio = {0.25}, bool yes = {1}> {
            y, kept = Dropout (x, ratio, yes)
        }"""
    )
    x = np.full(100000, 3, np.float32)
    outputs = drawn.run({"x": x})
    y, kept = outputs["y"], outputs["kept"]
    assert abs(kept.mean() - 0.75) < 5 * 0.5 / np.sqrt(x.size)
    np.testing.assert_array_equal(y, np.where(kept, np.float32(4), np.float32(0)))


def test_a_run_decides_whether_dropout_is_in_training() -> None:
    drawn = session(
        """(float[N] x, bool training) => (float[N] y, bool[N] kept) <float ratio = {0.25}> {
            y, kept = Dropout (x, ratio, training)
        }"""
    )
    x = np.full(100000, 3, np.float32)
    outputs = drawn.run({"x": x, "training": np.array(False)})
    assert outputs["kept"].all()
    np.testing.assert_array_equal(outputs["y"], x)
    outputs = drawn.run({"x": x, "training": np.array(True)})
    assert abs(outputs["kept"].mean() - 0.75) < 5 * 0.5 / np.sqrt(x.size)
    np.testing.assert_array_equal(outputs["y"], np.where(outputs["kept"], np.float32(4), 0))


def test_state_survives_a_package(tmp_path: object) -> None:
    path = f"{tmp_path}/r.trv"
    made = uniform()
    made.save(path)
    loaded = trivium.load(path)
    np.testing.assert_array_equal(loaded.run({})["y"], made.run({})["y"])
    np.testing.assert_array_equal(loaded.run({})["y"], made.run({})["y"])
