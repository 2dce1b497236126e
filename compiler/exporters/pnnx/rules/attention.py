"""PNNX rules for attention: as torch's function, or as torch's module with its projections."""

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Array
from ....frontends.pnnx import Operand
from ..graph import PnnxGraph, exports


@exports(tri.Attention)
def attention(op: tri.Attention, graph: PnnxGraph) -> None:
    if op.is_chain:
        raise Unsupported("replaces scores by numbers, or has several masks, torch has one of -inf")
    mask = op.masks[0] if op.masks else None
    inputs = {"query": op.q, "key": op.k, "value": op.v, "attn_mask": mask}
    if op.causal and (mask is not None or op.scale <= 0):
        raise Unsupported("is causal and has a mask or no positive scale, torch takes neither then")
    grouped = tensor_of(op.q.type).shape[-3] != tensor_of(op.k.type).shape[-3]
    graph.add(
        "F.scaled_dot_product_attention",
        inputs,
        [op.y],
        dropout_p=0.0,
        is_causal=op.causal,
        scale=op.scale,
        **({"enable_gqa": True} if grouped else {}),
    )


@exports(tri.MultiheadAttention)
def multihead_attention(op: tri.MultiheadAttention, graph: PnnxGraph) -> None:
    query, key, value = (tensor_of(v.type).shape for v in (op.q, op.k, op.v))
    inputs = {"query": op.q, "key": op.k, "value": op.v, "attn_mask": _mask(op, graph)}
    graph.add(
        "nn.MultiheadAttention",
        inputs,
        list(op.results),
        _module_weights(op, graph),
        embed_dim=query[2],
        kdim=key[2],
        vdim=value[2],
        num_heads=op.heads,
        bias=op.b is not None or op.out_b is not None,
        add_bias_kv=op.bias_k is not None,
        add_zero_attn=op.add_zero,
        batch_first=op.batch_first,
    )


def _mask(op: tri.MultiheadAttention, graph: PnnxGraph) -> ir.Value | Operand | None:
    """Return the mask; of truth, what torch wants to be hidden is what we want not to be seen."""
    if op.mask is None:
        return None
    mask = tensor_of(op.mask.type)
    first, second = 0 if op.batch_first else 1, 1 if op.batch_first else 0
    batch, queries = (tensor_of(op.q.type).shape[axis] for axis in (first, second))
    scores = (queries, tensor_of(op.k.type).shape[second])
    if mask.shape not in (scores, (batch * op.heads, *scores)):
        raise Unsupported(f"has a mask {mask}, torch one of {scores} for all or for each head")
    if mask.dtype != "i1":
        return op.mask
    hidden = graph.between(op.mask, mask.shape, "hidden")
    graph.add("torch.logical_not", {"input": op.mask}, [hidden])
    return hidden


def _module_weights(op: tri.MultiheadAttention, graph: PnnxGraph) -> dict[str, Array | None]:
    """Return the weights by torch's names: one matrix when all inputs have one size, or three."""
    optional = (op.b, op.out_b, op.bias_k, op.bias_v)
    matrices = [graph.array(w) for w in op.w]
    known = [matrix for matrix in matrices if matrix is not None]
    b, out_b, bias_k, bias_v = (graph.array(value) for value in optional)
    out_w = graph.array(op.out_w)
    variable = [
        value
        for value, array in zip(optional, (b, out_b, bias_k, bias_v), strict=True)
        if value is not None and array is None
    ]
    if len(known) != len(matrices) or out_w is None or variable:
        raise Unsupported("has weights that are not constant, torch's are")
    size = len(out_w)
    if b is not None or out_b is not None:
        b = np.zeros(3 * size, out_w.dtype) if b is None else b
        out_b = np.zeros(size, out_w.dtype) if out_b is None else out_b
    weights: dict[str, Array | None] = {
        "in_proj_bias": b,
        "out_proj.weight": out_w,
        "out_proj.bias": out_b,
        "bias_k": None if bias_k is None else bias_k.reshape(1, 1, size),
        "bias_v": None if bias_v is None else bias_v.reshape(1, 1, size),
    }
    one_size = all(tensor_of(v.type).shape[2] == size for v in (op.k, op.v))
    names = ("in_proj_weight",) if one_size else ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    arrays: list[Array] = [np.concatenate(known)] if one_size else known
    weights.update(zip(names, arrays, strict=True))
    return weights
