"""Records: the sizes of a run that the code of a kernel reads, as words of 64 bits.

A kernel that depends on symbols has one more argument, a pointer to its record. Its words are
whole expressions, evaluated by the caller; the code adds constants and multiplies by them, and
divides nowhere. In attributes of kernels, sizes are expressions of the words, which are symbols
`_0`, `_1` and so on: kernels that differ in the symbols of the model alone have equal code.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import gcd
from typing import Any

from ....dialects.core.attributes import from_attribute, to_attribute
from ....dialects.core.mlir import ir, upstream
from ....dialects.core.sizes.atoms import Size, is_symbolic, order_of_product, terms_of
from ....dialects.core.sizes.dim import Dim
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.sizes.substitution import substitute
from ....dialects.core.sizes.symbols import Range
from ....dialects.core.symbol_table import symbol_table
from ....dialects.core.tensor import Tensor

arith: Any = upstream("arith")
memref: Any = upstream("memref")

_ANY = Range(0)


def word_symbol(context: ir.Context, number: int) -> Size:
    """Return the size that a word of a record is, declared as a symbol of a context."""
    return symbol_table(context).declare(f"_{number}", _ANY)


def declare_words(context: ir.Context, count: int) -> None:
    """Declare the words of a record in a context, so that texts can name them."""
    for number in range(count):
        word_symbol(context, number)


def bind_record(size: Size, record: Sequence[Size]) -> Size:
    """Return what an expression of the words of a record is for a caller with that record."""
    return substitute(size, {f"_{number}": word for number, word in enumerate(record)})


def split_size(size: Size) -> tuple[int, Size, int]:
    """Return (factor, word, constant): the size is factor * word + constant."""
    terms = dict(terms_of(size))
    constant = terms.pop((), 0)
    factor = gcd(*terms.values())
    word = Dim({product: by // factor for product, by in terms.items()})
    negative = terms[min(terms, key=order_of_product)] < 0
    if at_least(0, word) or (negative and not at_least(word, 0)):
        return -factor, -word, constant
    return factor, word, constant


def emit_in_words(entry: ir.Block, size: Size) -> Any:
    """Emit an expression of words in a kernel that is finished, as MLIR's `index` type."""
    if not is_symbolic(size):
        return arith.constant(ir.IndexType.get(), size)
    factor, word, constant = split_size(size)
    number = int(str(word).removeprefix("_"))
    memory = entry.arguments[len(entry.arguments) - 1]
    return _scaled(_load(memory, number), factor, constant)


def mark_of(size: Size) -> ir.Attribute:
    """Return the attribute of a loop that has an expression of words, or a number."""
    return to_attribute(size, int)


def size_of_mark(attribute: ir.Attribute) -> Size:
    """Return the size that `mark_of` wrote."""
    size: Size = from_attribute(attribute, int)
    return size


def emitted(size: Size) -> Any:
    """Return the value of a size in the kernel under construction, of MLIR's `index` type."""
    return current_record().value(size)


def current_record() -> "Record":
    """Return the record of the kernel under construction."""
    record = _CURRENT.get()
    assert record is not None, "sizes are emitted where a record is current"
    return record


class Record:
    """Collect the words that a kernel under construction needs, and emit sizes from them.

    Values are emitted at the top of the kernel, once each: all its code may use them.
    """

    def __init__(self, entry: ir.Block) -> None:
        self._entry = entry
        self._numbers: dict[Size, int] = {}
        self._emitted: dict[Size, Any] = {}
        self._memory: ir.Operation | None = None
        self._last: ir.Operation | None = None

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Return the expressions that callers put into the words, in order."""
        return tuple(self._numbers)

    @contextmanager
    def current(self) -> Generator[None]:
        """Emit the sizes in the block from this record."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)

    def in_words(self, size: Size) -> Size:
        """Return a size as an expression of words, which are added where they are missing."""
        if not is_symbolic(size):
            return size
        factor, word, constant = split_size(size)
        number = self._numbers.setdefault(word, len(self._numbers))
        return word_symbol(self._entry.owner.context, number) * factor + constant

    def tensor_in_words(self, tensor: Tensor) -> Tensor:
        """Return a type whose sizes are expressions of words."""
        return Tensor(tuple(map(self.in_words, tensor.shape)), tensor.dtype)

    def value(self, size: Size) -> Any:
        """Return the value of a size, of MLIR's `index` type."""
        if size not in self._emitted:
            factor, word, constant = split_size(size)
            with self._top():
                value = self._loaded(word) if word == size else self.value(word)
            with self._top():
                value = _scaled(value, factor, constant)
            self._last = value.owner.operation
            self._emitted[size] = value
        return self._emitted[size]

    def _loaded(self, word: Size) -> Any:
        self.in_words(word)
        assert self._memory is not None, "_top() makes it"
        return _load(self._memory.results[0], self._numbers[word])

    def _top(self) -> ir.InsertionPoint:
        if self._memory is None:
            with ir.InsertionPoint.at_block_begin(self._entry):
                # Stands for the argument, which is the last one, until all others are known.
                name = "builtin.unrealized_conversion_cast"
                self._memory = ir.Operation.create(name, [_memory_type(1)], [])
            self._last = self._memory
        assert self._last is not None
        return ir.InsertionPoint.after(self._last)

    def finish(self) -> int:
        """Add the argument of the record, unless nothing is in it; return the number of words."""
        count = len(self._numbers)
        if count:
            memory = self._entry.add_argument(_memory_type(count), ir.Location.unknown())
            if self._memory is not None:
                self._memory.results[0].replace_all_uses_with(memory)
                self._memory.erase()
        return count


_CURRENT: ContextVar[Record | None] = ContextVar("record", default=None)


def _memory_type(words: int) -> ir.Type:
    return ir.MemRefType.get([words], ir.IntegerType.get_signless(64))


def _load(memory: Any, number: int) -> Any:
    index = ir.IndexType.get()
    word = memref.load(memory, [arith.constant(index, number)])
    return arith.index_cast(index, word)


def _scaled(value: Any, factor: int, constant: int) -> Any:
    index = ir.IndexType.get()
    if factor != 1:
        value = arith.muli(value, arith.constant(index, factor))
    return arith.addi(value, arith.constant(index, constant)) if constant else value
