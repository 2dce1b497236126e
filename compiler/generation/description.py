"""What a source says of a decoder beside its graph."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...targets.options import CompileOptions


@dataclass(frozen=True)
class DecoderDescription:
    """Name the ports of a decoder, what ends its texts, and how it chooses tokens.

    `states` are inputs by outputs, where `%d` is any number; caches that it does not have are found
    by their names. `sampling` has values of `trivium.Sampling` by name. `context` is the most
    tokens that the model was made for, None where that is not known.
    """

    ids: str = "input_ids"
    logits: str = "logits"
    mask: str = "attention_mask"
    positions: str = "position_ids"
    starts: str = "write_indices"
    totals: str = "nonpad_kv_seqlen"
    states: Mapping[str, str] = field(default_factory=dict[str, str])
    ends: tuple[int, ...] = ()
    sampling: Mapping[str, float] = field(default_factory=dict[str, float])
    context: int | None = None


def described_decoder(known: DecoderDescription, options: CompileOptions) -> DecoderDescription:
    """Return a description with the states that the user names."""
    return replace(known, states={**known.states, **(options.states or {})})
