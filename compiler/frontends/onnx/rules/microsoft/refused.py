"""Operators of ONNX Runtime that have no rule, and what to do instead."""

from ...registry import refuse
from . import DOMAIN

for _op_type in ("BeamSearch", "GreedySearch", "Sampling"):
    refuse(
        DOMAIN,
        _op_type,
        "compile the graph of its attribute 'decoder', and choose the words in a loop of your own",
    )

for _op_type in ("DecoderMaskedMultiHeadAttention", "DecoderMaskedSelfAttention"):
    refuse(
        DOMAIN,
        _op_type,
        "its cache has an order of GPUs; export with MultiHeadAttention or GroupQueryAttention",
    )

for _op_type in ("MoE", "QMoE"):
    refuse(DOMAIN, _op_type, "export the experts as products, without fusing them")
