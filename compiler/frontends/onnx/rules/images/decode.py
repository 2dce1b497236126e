"""ONNX rule that reads images from the bytes of their files."""

from ......dialects import tri
from ......dialects.core.tensor import Array
from ...registry import Node, Value, onnx_op


@onnx_op("ImageDecoder", since=20)
def image_decoder(
    encoded_stream: Value, *, pixel_format: str = "RGB", node: Node
) -> Array | tri.DecodeImage:
    known = node.evaluate(encoded_stream)
    if known is not None:
        return tri.DecodeImage(height=0, width=0, pixels=pixel_format).reference(known)
    height, width = node.found.new(None), node.found.new(None)
    return tri.DecodeImage.build(encoded_stream, height=height, width=width, pixels=pixel_format)
