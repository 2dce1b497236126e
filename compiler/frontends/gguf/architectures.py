"""How the decoders of each architecture differ from that of Qwen 2, which has no flags.

Where a tensor may be missing, such as a bias, its presence decides. Source: the graphs of llama.cpp
in `src/models`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Architecture:
    """Describe the decoders of one architecture.

    `neighbours` are rotated together: rows of queries and keys are ordered so. `head_norm`
    normalises each head of queries and keys, `post_norm` the results of attention and of the
    feed-forward part. `layer_norm` subtracts the mean. `gate` multiplies: "silu", "gelu", or "" for
    a feed-forward part with no gate and a gelu; with `joined_gate` the gate has the first rows of
    `ffn_up`. `parallel` adds attention and the feed-forward part of one norm. `scaled_embedding`
    multiplies words by the root of their size. `window_period` is the default for how many layers
    there are from one without a window to the next; 0 means that a window is one of all layers.
    `local_base` is the base of angles in layers with a window; 0 means that of the others. In a
    model of `wide_heads` layers scores are divided by the root of hidden size / heads. Where there
    are experts, the weights of those that are chosen sum up to 1 if it `normalizes_experts`, and
    all rows go through a `shared_expert`, too, weighted by a gate of its own.
    """

    neighbours: bool = False
    head_norm: bool = False
    post_norm: bool = False
    layer_norm: bool = False
    gate: str = "silu"
    joined_gate: bool = False
    parallel: bool = False
    scaled_embedding: bool = False
    window_period: int = 0
    default_window: int = 0
    local_base: float = 0.0
    wide_heads: int = 0
    normalizes_experts: bool = True
    shared_expert: bool = False


ARCHITECTURES = {
    "llama": Architecture(neighbours=True),
    "qwen2": Architecture(),
    "qwen3": Architecture(head_norm=True),
    "qwen2moe": Architecture(normalizes_experts=False, shared_expert=True),
    "qwen3moe": Architecture(head_norm=True),
    "phi2": Architecture(layer_norm=True, gate="", parallel=True),
    "phi3": Architecture(joined_gate=True),
    "gemma": Architecture(gate="gelu", scaled_embedding=True),
    "gemma2": Architecture(
        gate="gelu",
        scaled_embedding=True,
        post_norm=True,
        window_period=2,
        default_window=4096,
        wide_heads=46,
    ),
    "gemma3": Architecture(
        gate="gelu",
        scaled_embedding=True,
        head_norm=True,
        post_norm=True,
        window_period=6,
        local_base=10000.0,
        wide_heads=62,
    ),
}
"""The architectures that are imported, by `general.architecture`."""
