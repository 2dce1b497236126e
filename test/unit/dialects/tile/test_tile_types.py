"""The types of tiles and memory: sizes with names, and where elements lie."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.dialects.core.errors import Invalid
from trivium.dialects.tile.types import Memory, Size, Tile, broadcast, size_of

SHAPES = st.lists(st.sampled_from([1, 2, 4, "BM", "BN"]), max_size=3).map(tuple)
VALUE_OF = {"BM": 16, "BN": 32}


@given(st.lists(SHAPES, min_size=1, max_size=3))
def test_sizes_broadcast_as_those_of_numpy_do(shapes: list[tuple[Size, ...]]) -> None:
    """Names are sizes that equal no other."""
    numbers = [tuple(VALUE_OF.get(str(size), size) for size in s) for s in shapes]
    try:
        want = np.broadcast_shapes(*numbers)
    except ValueError:
        with pytest.raises(Invalid, match="do not broadcast"):
            broadcast(*(Tile(s, "f32") for s in shapes))
        return
    got = broadcast(*(Tile(s, "f32") for s in shapes))
    assert tuple(VALUE_OF.get(str(size), size) for size in got) == want


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=3))
def test_where_elements_of_memory_lie(axes: list[tuple[int, int]]) -> None:
    sizes, strides = tuple(a[0] for a in axes), tuple(a[1] for a in axes)
    described = Memory(sizes, strides, "f32")
    offsets = [sum(i * s for i, s in zip(at, strides, strict=True)) for at in np.ndindex(*sizes)]
    assert described.extent == max(offsets, default=-1) + 1
    if not described.overlaps:
        assert len(set(offsets)) == len(offsets)


@given(st.permutations(range(4)), st.lists(st.integers(1, 3), min_size=4, max_size=4))
def test_dense_memory_does_not_overlap(order: list[int], sizes: list[int]) -> None:
    strides = np.empty(sizes, np.int8).transpose(order).copy().transpose(np.argsort(order)).strides
    assert not Memory(tuple(sizes), strides, "f32").overlaps


@pytest.mark.parametrize(("text", "size"), [("64", 64), ("1", 1), ("BM", "BM"), ("_b2", "_b2")])
def test_sizes_in_attributes(text: str, size: Size) -> None:
    assert size_of(text) == size


@pytest.mark.parametrize("text", ["", "0", "08", "12", "-4", "2 ", "4B", "B-M", "٤", "µ", "BM\n"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(Invalid, match="must be a power of two or the name of a block size"):
        size_of(text)


def test_types_have_names() -> None:
    assert str(Tile(("BM", 4), "f32")) == "tile<BMx4xf32>"
    assert str(Tile((), "i32")) == "tile<i32>"
    assert str(Memory((3, 4), (4, 1), "i8")) == "memory<3x4xi8, strides (4, 1)>"
    assert str(Memory((), (), "i8")) == "memory<i8, strides ()>"
