"""PNNX rules for Fourier transforms: of complex numbers, which `tri` has as pairs."""

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Shape
from ....frontends.pnnx import Operand
from ..graph import PnnxGraph, exports

COMPLEX = {"f32": "c64", "f64": "c128"}
"""The types of which torch makes complex numbers, and these."""


@exports(tri.Dft)
def dft(op: tri.Dft, graph: PnnxGraph) -> None:
    x, y = tensor_of(op.x.type), tensor_of(op.y.type)
    if x.dtype not in COMPLEX:
        raise Unsupported(f"transforms {x.dtype}, torch {' and '.join(COMPLEX)}")
    if (op.inverse and x.shape[-1] == 1) or (op.onesided and not op.inverse and x.shape[-1] == 2):
        raise Unsupported("is inverse of real numbers, or onesided of complex ones, torch is not")
    kind = "r" if op.onesided else ""
    name = f"torch.fft.i{kind}fft" if op.inverse else f"torch.fft.{kind}fft"
    how = {"dim": op.axis % x.rank, "n": op.length, "norm": "backward"}
    signal = _signal(op.x, x.shape, graph)
    if op.onesided and op.inverse:
        real = graph.between(op.y, y.shape[:-1], "real")
        graph.add(name, {"input": signal}, [real], **how)
        graph.add("Tensor.reshape", {"input": real}, [op.y], shape=y.shape)
        return
    spectrum = _complex(op.y, y.shape[:-1], graph, "spectrum")
    graph.add(name, {"input": signal}, [spectrum], **how)
    graph.add("torch.view_as_real", {"input": spectrum}, [op.y])


def _signal(x: ir.Value, shape: Shape, graph: PnnxGraph) -> Operand:
    """Return a signal without its last axis, by whose size it is real or complex."""
    if shape[-1] == 1:
        real = graph.between(x, shape[:-1], "real")
        graph.add("Tensor.select", {"input": x}, [real], dim=len(shape) - 1, index=0)
        return real
    signal = _complex(x, shape[:-1], graph, "complex")
    graph.add("torch.view_as_complex", {"input": x}, [signal])
    return signal


def _complex(like: ir.Value, shape: Shape, graph: PnnxGraph, hint: str) -> Operand:
    operand = graph.between(like, shape, hint)
    operand.dtype = COMPLEX[tensor_of(like.type).dtype]
    return operand
