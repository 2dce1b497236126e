"""Examples of ops on text; the sizes that they find are given."""

import numpy as np
from examples import Example, Maker, Pick
from trivium.dialects import tri
from trivium.dialects.core.tensor import STRING, Array, Tensor

KEYS = (STRING, "i64", "f32", "i1")


def string_concat(pick: Pick) -> Example:
    shape = pick.shape()
    return Example((_text(pick, pick.narrowed(shape)), _text(pick, pick.narrowed(shape))))


def string_split(pick: Pick) -> Example:
    x, delimiter, most = _text(pick, pick.shape()), pick.one("", " ", "a"), pick.one(-1, 0, 1)
    parts = max((len(s.split(delimiter or None, most)) for s in x.reshape(-1)), default=0)
    return Example((x,), {"delimiter": delimiter, "maxsplit": most, "parts": parts})


def string_normalize(pick: Pick) -> Example:
    x = _text(pick, (*pick.one((), (1,)), pick.between(0, 4)))
    stopwords = pick.one((), ("a", "B"))
    sensitive = pick.flag()
    forms = {*stopwords} if sensitive else {w for s in stopwords for w in (s.lower(), s.upper())}
    count = max(sum(word not in forms for word in x.reshape(-1)), 1)
    attributes = {"count": count, "case": pick.one("lower", "upper", "none")}
    return Example((x,), attributes | {"case_sensitive": sensitive, "stopwords": stopwords})


def regex_full_match(pick: Pick) -> Example:
    return Example((_text(pick, pick.shape()),), {"pattern": pick.one("a.*", "[a-z]+", "")})


def lookup(pick: Pick) -> Example:
    dtype, entries = pick.one(*KEYS), pick.between(0, 4)
    x, keys = pick.array(pick.shape(), dtype), pick.array((entries,), dtype)
    values = pick.array((entries,), *KEYS)
    default = np.array(pick.array((1,), Tensor.of(values).dtype)[0], values.dtype)
    return Example((x, keys, values, default))


def _text(pick: Pick, shape: tuple[int, ...]) -> Array:
    return pick.array(shape, STRING)


TEXT: dict[type[tri.TriOp], Maker] = {
    tri.StringConcat: string_concat,
    tri.StringSplit: string_split,
    tri.StringNormalize: string_normalize,
    tri.RegexFullMatch: regex_full_match,
    tri.Lookup: lookup,
}
