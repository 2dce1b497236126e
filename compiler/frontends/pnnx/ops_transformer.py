"""The PNNX rule for a layer of a transformer, as torch runs it in one operator in inference."""

from ....dialects import tri
from ....dialects.core.errors import Unsupported
from .rules import Value, pnnx_op


@pnnx_op("aten::_transformer_encoder_layer_fwd")
def transformer_encoder_layer(
    src: Value,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Value,
    qkv_bias: Value,
    proj_weight: Value,
    proj_bias: Value,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Value,
    norm_bias_1: Value,
    norm_weight_2: Value,
    norm_bias_2: Value,
    ffn_weight_1: Value,
    ffn_bias_1: Value,
    ffn_weight_2: Value,
    ffn_bias_2: Value,
    mask: Value | None = None,
    mask_type: int | None = None,
) -> tri.LayerNorm | tri.Add:
    """Add attention and a network of two layers to what they see; normalise before, or after."""
    if mask is not None:
        words = "torch.backends.mha.set_fastpath_enabled(False)"
        raise Unsupported(f"has a mask: export the model after {words}")

    def attend(x: Value) -> Value:
        operands = (x, x, x, [qkv_weight], proj_weight, qkv_bias, proj_bias)
        return tri.MultiheadAttention.build(*operands, heads=num_heads, batch_first=True).y

    def feed(x: Value) -> Value:
        inner = tri.Linear.build(x, ffn_weight_1, ffn_bias_1).y
        inner = tri.Gelu.build(inner).y if use_gelu else tri.Relu.build(inner).y
        return tri.Linear.build(inner, ffn_weight_2, ffn_bias_2).y

    def norm(x: Value, weight: Value, bias: Value) -> tri.LayerNorm:
        return tri.LayerNorm.build(x, weight, bias, epsilon=eps)

    if norm_first:
        seen = attend(norm(src, norm_weight_1, norm_bias_1).y)
        x = tri.Add.build(src, seen).y
        return tri.Add.build(x, feed(norm(x, norm_weight_2, norm_bias_2).y))
    x = norm(tri.Add.build(src, attend(src)).y, norm_weight_1, norm_bias_1).y
    return norm(tri.Add.build(x, feed(x)).y, norm_weight_2, norm_bias_2)
