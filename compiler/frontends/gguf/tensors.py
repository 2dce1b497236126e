"""The tensors that a decoder needs, and may have, with their shapes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ....dialects.core.errors import CompileError, Diagnostic
from .blocks import BLOCK_TYPES, PLAIN_TYPES
from .file import GgufFile, GgufTensor
from .hyperparameters import Experts, Hyperparameters

MOST_FAULTS = 20
"""How many faults are listed; a file that lacks a layer lacks a dozen tensors."""

ROUTER, SHARED_GATE = "ffn_gate_inp", "ffn_gate_inp_shexp"
EMBEDDING, HEAD = "token_embd.weight", "output.weight"
FREQUENCIES, LONG, SHORT = (
    f"rope_{which}.weight" for which in ("freqs", "factors_long", "factors_short")
)


@dataclass(frozen=True)
class Expected:
    """Describe a tensor: the shape that it must have, and whether it may be missing."""

    name: str
    shape: tuple[int, ...]
    is_optional: bool = False


def check_tensors(file: GgufFile, decoder: Hyperparameters) -> Mapping[str, GgufTensor]:
    """Return the tensors of a file.

    Raises CompileError with all that are missing, of other shapes, of types that are not read, or
    unknown: what is not read would be ignored.
    """
    expected = {each.name: each for each in _expected(file, decoder)}
    faults: list[Diagnostic] = []
    for name, each in expected.items():
        tensor = file.tensors.get(name)
        if tensor is None:
            if not each.is_optional:
                faults.append(Diagnostic(name, f"tensor is missing, must be {list(each.shape)}"))
        elif tensor.shape != each.shape:
            fault = f"tensor has shape {list(tensor.shape)}, must have {list(each.shape)}"
            faults.append(Diagnostic(name, fault))
        elif tensor.type not in PLAIN_TYPES and tensor.type not in BLOCK_TYPES:
            known = [kind.name for kind in BLOCK_TYPES.values()]
            fault = f"tensor is {tensor.type_name}, must be F32, F16, BF16, {', '.join(known)}"
            faults.append(Diagnostic(name, fault))
    for name in (name for name in file.tensors if name not in expected):
        fault = f"tensor is not one of a '{decoder.name}' decoder, and would be ignored"
        faults.append(Diagnostic(name, fault))
    if len(faults) > MOST_FAULTS:
        more = Diagnostic("", f"{len(faults) - MOST_FAULTS} more tensors do not fit")
        faults = [*faults[:MOST_FAULTS], more]
    if faults:
        raise CompileError(faults)
    return file.tensors


def _expected(file: GgufFile, decoder: Hyperparameters) -> Iterator[Expected]:
    hidden = decoder.hidden
    words = file.tensors[EMBEDDING].shape[0] if EMBEDDING in file.tensors else 1
    yield Expected(EMBEDDING, (words, hidden))
    yield from _norm("output_norm", hidden, decoder)
    yield Expected(HEAD, (words, hidden), is_optional=True)
    yield Expected("output.bias", (words,), is_optional=True)
    has_long = LONG in file.tensors or SHORT in file.tensors
    for name, is_optional in ((FREQUENCIES, True), (LONG, not has_long), (SHORT, not has_long)):
        yield Expected(name, (decoder.rotated // 2,), is_optional)
    for layer in range(decoder.layers):
        yield from _layer(f"blk.{layer}.", file, decoder)


def _layer(prefix: str, file: GgufFile, decoder: Hyperparameters) -> Iterator[Expected]:
    hidden, flags = decoder.hidden, decoder.architecture
    queries, keys, inner = decoder.query_rows, decoder.key_rows, decoder.inner
    yield from _norm(f"{prefix}attn_norm", hidden, decoder)
    if f"{prefix}attn_qkv.weight" in file.tensors:
        rows = {"qkv": queries + 2 * keys}
    else:
        rows = {"q": queries, "k": keys, "v": keys}
    for part, count in rows.items():
        yield from _matrix(f"{prefix}attn_{part}", count, hidden)
    yield from _matrix(f"{prefix}attn_output", hidden, queries)
    if flags.head_norm:
        for part in "qk":
            yield Expected(f"{prefix}attn_{part}_norm.weight", (decoder.head_size,))
    if flags.post_norm:
        for part in ("attention", "ffw"):
            yield Expected(f"{prefix}post_{part}_norm.weight", (hidden,))
    if not flags.parallel:
        yield from _norm(f"{prefix}ffn_norm", hidden, decoder)
    if decoder.experts is not None:
        yield from _expert_matrices(prefix, decoder, decoder.experts)
        return
    if flags.gate and not flags.joined_gate:
        yield from _matrix(f"{prefix}ffn_gate", inner, hidden)
    yield from _matrix(f"{prefix}ffn_up", (1 + flags.joined_gate) * inner, hidden)
    yield from _matrix(f"{prefix}ffn_down", hidden, inner)


def _expert_matrices(prefix: str, decoder: Hyperparameters, experts: Experts) -> Iterator[Expected]:
    hidden, count, inner = decoder.hidden, experts.count, experts.inner
    yield Expected(f"{prefix}{ROUTER}.weight", (count, hidden))
    for part in ("gate", "up"):
        yield Expected(f"{prefix}ffn_{part}_exps.weight", (count, inner, hidden))
    yield Expected(f"{prefix}ffn_down_exps.weight", (count, hidden, inner))
    if decoder.architecture.shared_expert:
        inner = experts.shared_inner
        yield Expected(f"{prefix}{SHARED_GATE}.weight", (hidden,))
        for part, shape in (("gate", (inner, hidden)), ("up", (inner, hidden))):
            yield Expected(f"{prefix}ffn_{part}_shexp.weight", shape)
        yield Expected(f"{prefix}ffn_down_shexp.weight", (hidden, inner))


def _norm(name: str, size: int, decoder: Hyperparameters) -> Iterator[Expected]:
    yield Expected(f"{name}.weight", (size,))
    if decoder.architecture.layer_norm:
        yield Expected(f"{name}.bias", (size,))


def _matrix(name: str, rows: int, columns: int) -> Iterator[Expected]:
    yield Expected(f"{name}.weight", (rows, columns))
    yield Expected(f"{name}.bias", (rows,), is_optional=True)
