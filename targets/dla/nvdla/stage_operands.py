"""Read the operands of a stage of SDP: its own two numbers, or those that its cube has."""

import numpy as np
import numpy.typing as npt

from .configuration import Configuration
from .format.network import Cube, Precision
from .format.operations import SdpOperation, SdpStage
from .reference.arithmetic import Integers
from .reference.stages import ALU, BOTH, MULTIPLY, PER_ELEMENT, PER_LAYER, Operands
from .surfaces import SurfaceLayout, view_atoms

Bytes = npt.NDArray[np.uint8]


def stage_operands(
    stage: SdpStage, cube: Cube, memory: Bytes | None, shape: tuple[int, ...], elements: int
) -> Operands:
    """Return the operands of a stage for data [C, H, W], which broadcast to that shape.

    The memory starts at the cube; None is for a stage that has none. An atom has operands for some
    `elements`. Where a stage has two operands, those of the ALU and of the multiplier alternate.
    Raises ValueError for a cube that is too small or of another shape.
    """
    if not stage.enable or not stage.kind:
        return Operands()
    if stage.mode == PER_LAYER:
        alu, multiplier = np.int64(stage.alu_operand), np.int64(stage.mul_operand)
        return _used(stage, np.asarray(alu), np.asarray(multiplier))
    assert memory is not None, "operands that are not for a whole layer are in memory"
    if stage.mode == PER_ELEMENT:
        values = _of_elements(stage, cube, memory, shape, elements)
    else:
        values = _of_channels(memory, shape[0], _count(stage), _dtype(stage))
    return _used(stage, values[0], values[-1])


def elements_of_operands(operation: SdpOperation, configuration: Configuration) -> int:
    """Return for how many elements an atom has operands: of int8 where a result is int8."""
    is_int8 = operation.destination_precision == Precision.INT8
    precision = Precision.INT8 if is_int8 else Precision(operation.source_precision)
    return configuration.atom_elements(precision)


def operand_layout(cube: Cube, elements: int, stage: SdpStage) -> SurfaceLayout:
    """Return the layout of the operands for each element of data, `elements` in an atom."""
    atom = elements * _count(stage) * _dtype(stage).itemsize
    strides = cube.line_stride, cube.surface_stride
    return SurfaceLayout(cube.channels, cube.height, cube.width, atom, elements, *strides)


def _count(stage: SdpStage) -> int:
    return 2 if stage.kind == BOTH else 1


def _dtype(stage: SdpStage) -> np.dtype[np.generic]:
    return np.dtype("<i2" if stage.precision else np.int8)


def _of_elements(
    stage: SdpStage, cube: Cube, memory: Bytes, shape: tuple[int, ...], elements: int
) -> list[Integers]:
    found = cube.channels, cube.height, cube.width
    if found != shape:
        raise ValueError(f"has operands {found}, must be {shape}")
    layout, count = operand_layout(cube, elements, stage), _count(stage)
    fault = layout.fault()
    if fault is not None:
        raise ValueError(f"has operands of a cube that {fault}")
    atoms = view_atoms(layout, memory, _dtype(stage))
    return [
        atoms[..., number::count]
        .transpose(0, 3, 1, 2)
        .reshape(-1, layout.height, layout.width)[: layout.channels]
        .astype(np.int64)
        for number in range(count)
    ]


def _of_channels(
    memory: Bytes, channels: int, count: int, dtype: np.dtype[np.generic]
) -> list[Integers]:
    size = channels * count * dtype.itemsize
    if memory.size < size:
        raise ValueError(f"has {memory.size} bytes of operands for {channels} channels")
    values = np.frombuffer(memory[:size].tobytes(), dtype).astype(np.int64)
    return [values[number::count, None, None] for number in range(count)]


def _used(stage: SdpStage, alu: Integers, multiplier: Integers) -> Operands:
    """Return those of the two that a stage uses."""
    return Operands(
        alu if stage.kind & ALU else None, multiplier if stage.kind & MULTIPLY else None
    )
