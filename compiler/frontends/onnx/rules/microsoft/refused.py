"""Operators of ONNX Runtime that have no rule, and what to do instead."""

from ...registry import refuse
from . import DOMAIN

LOOP = "compile the graph of its attribute 'decoder', and choose the words in a loop of your own"
CACHE = "its cache has an order of GPUs; export with MultiHeadAttention or GroupQueryAttention"
LAYOUT = "ONNX Runtime saved the layout of one machine; save the model at ORT_ENABLE_EXTENDED"

for _op_type, _hint in (
    ("BeamSearch", LOOP),
    ("GreedySearch", LOOP),
    ("Sampling", LOOP),
    ("DecoderMaskedMultiHeadAttention", CACHE),
    ("DecoderMaskedSelfAttention", CACHE),
):
    refuse(_hint, domain=DOMAIN, op_type=_op_type)

refuse(LAYOUT, domain="com.microsoft.nchwc")
