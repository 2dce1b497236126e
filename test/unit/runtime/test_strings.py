"""Text in memory: handles, the strings behind them, and what becomes of them between runs."""

import numpy as np
import pytest
from trivium.runtime import strings
from trivium.runtime.errors import RunError
from trivium.runtime.strings import EMPTY, Strings, handle_of, handles_of, text_array


def test_equal_strings_have_equal_handles() -> None:
    texts = np.array([["a", "b"], ["a", ""]], object)
    handles = handles_of(texts)
    assert handles.shape == (2, 2)
    assert handles.dtype == np.int64
    assert handles[0, 0] == handles[1, 0] == handle_of("a") != handles[0, 1]
    assert handles[1, 1] == EMPTY == 0


def test_a_handle_is_the_same_in_all_versions() -> None:
    """Packages have handles as weights: BLAKE2b of 8 bytes, little end first."""
    assert handle_of("abc") == int.from_bytes(
        bytes.fromhex("d8bb14d833d59559"), "little", signed=True
    )


def test_strings_come_back() -> None:
    known = Strings(["constant"])
    texts = np.array([["x", "\U0001f600"], ["", "constant"]], object)
    back = known.texts(known.handles(texts))
    assert back.dtype == object
    np.testing.assert_array_equal(back, texts)


def test_a_new_run_knows_the_constants_alone() -> None:
    known = Strings(["constant"])
    handles = known.handles(np.array(["x", "constant"], object))
    known.forget()
    assert known.texts(handles[1:]).tolist() == ["constant"]
    with pytest.raises(KeyError):
        known.texts(handles[:1])


def test_strings_of_one_hash_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strings, "handle_of", len)
    with pytest.raises(RunError, match="'ab' and 'cd' have the same hash"):
        Strings().handles(np.array(["ab", "cd"], object))


@pytest.mark.parametrize("kind", [object, "U3", np.dtypes.StringDType()])
def test_arrays_of_strings(kind: object) -> None:
    texts = text_array(np.array(["a", "bcd"], kind))
    assert texts.dtype == object
    assert [*map(type, texts)] == [str, str]


@pytest.mark.parametrize("other", [np.zeros(2), np.array([b"a"]), np.array(["a", None], object)])
def test_other_arrays_are_refused(other: object) -> None:
    with pytest.raises(TypeError, match="must hold strings"):
        text_array(other)
