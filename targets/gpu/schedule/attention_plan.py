"""The blocks of attention before tuning."""

from dataclasses import dataclass

from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.dim import ceildiv
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import DTYPES
from .product_blocks import LEAST, MULTIPROCESSORS, next_power

MOST_DEPTH = 256
"""The most elements of a query or a value: a program loads all of them into registers."""

KEYS_MULTIPLE = 128
"""Every block of keys divides this: keys in multiples of it need no check."""

_LEAST_PART = 256
_MOST_PARTS = 64


@dataclass(frozen=True)
class AttentionPlan:
    """The queries of a program, the keys of one step, and the numbering of queries.

    If `packed`, the queries of all heads that share keys are rows of one program. The keys are
    split in `parts` of `span`, each for a program of its own.
    """

    queries: int
    keys: int
    depth: int
    values: int
    warps: int
    stages: int
    packed: bool
    parts: int
    span: int

    @property
    def blocks(self) -> tuple[tuple[str, int], ...]:
        return (("BM", self.queries), ("BN", self.keys), ("BD", self.depth), ("BE", self.values))


@dataclass(frozen=True)
class AttentionSizes:
    """The sizes of attention: heads are those of the keys, each with `shared` of queries."""

    heads: int
    shared: int
    queries: int
    keys: int
    depth: int
    values: int
    dtype: str
    precision: str = "ieee"


def attention_plan(sizes: AttentionSizes) -> AttentionPlan:
    """Plan attention: large blocks of queries, but enough programs for a whole GPU."""
    depth, values = (max(next_power(size), LEAST) for size in (sizes.depth, sizes.values))
    queries, keys, warps, stages = _blocks(max(depth, values), sizes)
    shared, usual_queries = likely(sizes.shared), likely(sizes.queries)
    packed = shared > 1 and shared * usual_queries <= queries
    rows = usual_queries * (shared if packed else 1)
    heads = likely(sizes.heads) * (1 if packed else shared)
    queries = min(queries, max(next_power(rows), LEAST))
    while queries > _FEW_QUERIES and heads * -(-rows // queries) < MULTIPROCESSORS:
        queries //= 2
    warps = warps if queries >= _FEW_QUERIES else 4
    keys = min(keys, max(next_power(likely(sizes.keys)), LEAST))
    parts, span = _parts(max(1, heads * -(-rows // queries)), sizes.keys)
    return AttentionPlan(queries, keys, depth, values, warps, stages, packed, parts, span)


_FEW_QUERIES = 64


def _blocks(depth: int, sizes: AttentionSizes) -> tuple[int, int, int, int]:
    """Return queries, keys, warps and stages for a depth and a type."""
    if DTYPES[sizes.dtype].bits == 16:
        if depth <= 64:
            return 128, 64, 4, 3
        return (128, 64, 8, 3) if depth <= 128 else (64, 32, 4, 2)
    if sizes.dtype == "f32" and sizes.precision == "tf32":
        if depth <= 64:
            return 64, 64, 4, 2
        return (64, 32, 4, 2) if depth <= 128 else (32, 32, 4, 2)
    if sizes.dtype == "f32":
        if depth <= 64:
            return 64, 32, 8, 2
        return (32, 32, 4, 2) if depth <= 128 else (32, 16, 8, 2)
    return (32, 32, 4, 1) if depth <= 64 else (16, 16, 4, 1)


def _parts(programs: int, keys: Size) -> tuple[int, Size]:
    """Split keys where there are too few programs; return how many parts, and the keys of each.

    Where keys depend on symbols, the last parts may be empty.
    """
    usual = likely(keys)
    parts = min(2 * MULTIPROCESSORS // programs, -(-usual // _LEAST_PART), _MOST_PARTS)
    if 2 * programs > MULTIPROCESSORS or parts < 2:
        return 1, keys
    span = ceildiv(ceildiv(keys, parts), KEYS_MULTIPLE) * KEYS_MULTIPLE
    return (parts if is_symbolic(keys) else -(-keys // span)), span
