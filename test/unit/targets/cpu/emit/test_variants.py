"""Memory that serves the kernels of one call for several machines."""

from trivium.dialects.core.tensor import Tensor
from trivium.targets.cpu.emit.variants import merge_scratch, own_pieces
from trivium.targets.program.program import Scratch


def shared(size: int, dtype: str = "f32") -> Scratch:
    return Scratch(Tensor((size,), dtype))


def private(size: int) -> Scratch:
    return Scratch(Tensor((size,), "f32"), private=True)


def test_one_kernel_keeps_what_it_asks_for_in_order() -> None:
    asked = (private(3), shared(5), private(7))
    assert tuple(merge_scratch([asked]).values()) == asked


def test_each_piece_is_the_largest_in_bytes_of_its_kind() -> None:
    wide = (shared(5), private(9), shared(2, "f64"))
    narrow = (private(4), shared(6), shared(3), private(1))
    merged = merge_scratch([wide, narrow])
    assert tuple(merged.values()) == (shared(6), private(9), shared(2, "f64"), private(1))
    places = {key: number for number, key in enumerate(merged)}
    assert own_pieces(wide, places) == [0, 1, 2]
    assert own_pieces(narrow, places) == [1, 0, 2, 3]


def test_no_kernel_asks_for_nothing() -> None:
    assert merge_scratch([]) == {}
