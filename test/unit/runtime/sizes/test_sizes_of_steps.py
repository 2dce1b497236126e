"""A step of any kind may have sizes in fields of its own: each plan has their numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from trivium.runtime import Package, PackageError, Session
from trivium.runtime.contents import FIRST_PORT, Buffer, Memory, Port, Symbol
from trivium.runtime.loader import Loader
from trivium.runtime.manifest import SYMBOLIC_VERSION, VERSION, Manifest
from trivium.runtime.sizes.size_expressions import Size
from trivium.runtime.state import SessionState
from trivium.runtime.step import Bind, Step


@dataclass(frozen=True, kw_only=True)
class WordsStep(Step):
    """Write words and limits to the result."""

    kind: ClassVar[str] = "test_words"

    words: tuple[Size, ...]
    limit: Size

    def load(self, loader: Loader) -> Bind:
        words = loader.array(self.words)

        def bind(state: SessionState) -> Callable[[], None]:
            array = words.at(state.values)
            array[0] = state.values(self.limit)
            return lambda: np.copyto(state.bases.view(self.results[0]), array)

        return bind


def manifest(symbolic: bool, words: Any, limit: Any) -> Manifest:
    shape: Any = ("N",) if symbolic else (7,)
    return Manifest(
        version=SYMBOLIC_VERSION if symbolic else VERSION,
        producer="test",
        source="",
        target="host",
        inputs=(Port("x", shape, "float32", 0),),
        outputs=(Port("y", (4,), "int64", 1),),
        buffers=(
            Buffer("x", FIRST_PORT, 0, shape, "float32"),
            Buffer("y", FIRST_PORT + 1, 0, (4,), "int64"),
        ),
        memory=Memory(0, 0, 0),
        symbols=(Symbol("N", 1, None, 2),) if symbolic else (),
        steps=(WordsStep(words=words, limit=limit, results=(1,)),),
    )


def test_each_plan_has_its_numbers():
    words = (0, "N*N - 100", 7, "N//2")
    session = Session(Package.create(manifest(True, words, "max(N, 5)"), {}))
    for n in (3, 8, 3):
        y = session.run({"x": np.zeros(n, np.float32)})["y"]
        assert y.tolist() == [max(n, 5), n * n - 100, 7, n // 2]


def test_a_step_of_a_static_package_has_numbers():
    session = Session(Package.create(manifest(False, (1, 2, 3, -4), 9), {}))
    assert session.run({"x": np.zeros(7, np.float32)})["y"].tolist() == [9, 2, 3, -4]


def test_a_text_in_a_static_package_is_refused():
    with pytest.raises(PackageError, match=r"'steps\[0\].words\[1\]' is a string, must be an int"):
        Package.create(manifest(False, (1, "N", 3, 4), 9), {})


def test_a_text_of_another_symbol_is_refused():
    faulty = manifest(True, (1, 2, 3, "K"), 1)
    with pytest.raises(PackageError, match=r"'steps\[0\].words\[3\]' is the size 'K', there is no"):
        Package.create(faulty, {})
