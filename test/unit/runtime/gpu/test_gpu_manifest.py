"""What a manifest may say about a GPU, and what is refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.runtime.checks import check
from trivium.runtime.contents import (
    FIRST_PORT,
    Buffer,
    Entry,
    Memory,
    MemorySpace,
    Port,
)
from trivium.runtime.copy.step import CopyStep
from trivium.runtime.errors import PackageError
from trivium.runtime.gpu.code import GpuCode, GpuKernel, GpuParameter, Launch
from trivium.runtime.gpu.part import GpuPart
from trivium.runtime.gpu.step import GpuStep
from trivium.runtime.host.step import HostStep
from trivium.runtime.manifest import Manifest

# The bases after those of one input and one output.
DEVICE_ARENA, DEVICE_WEIGHTS = FIRST_PORT + 2, FIRST_PORT + 3

# y = x + w of 4 x 8 elements: x goes to the device, w is there, the sum comes back.
BUFFERS = (
    Buffer("x", FIRST_PORT, 0, (4, 8), "float32"),
    Buffer("y", FIRST_PORT + 1, 0, (4, 8), "float32"),
    Buffer("x", DEVICE_ARENA, 0, (4, 8), "float32"),
    Buffer("w", DEVICE_WEIGHTS, 0, (4, 8), "float32"),
    Buffer("sum", DEVICE_ARENA, 128, (4, 8), "float32"),
    Buffer("spare", 0, 0, (4, 8), "float32"),
)
POINTER = GpuParameter("pointer", 0, (4, 8), (8, 1), "float32")
MAP = GpuParameter("tensor_map", 1, (4, 8), (8, 1), "float32", (2, 4), 1)
KERNEL = GpuKernel(
    "add",
    "gpu/sm_90/add.cubin",
    "add",
    (1, 1, 1),
    4,
    parameters=(POINTER, MAP, GpuParameter("pointer", 2)),
)
LAUNCH = Launch("add", (2, 3, 4), ("Add_0",))
IN, OUT = CopyStep(operands=(0,), results=(2,)), CopyStep(operands=(4,), results=(1,))
CODES = (GpuCode("sm_90", (KERNEL,), 12000), GpuCode("sm_80", (KERNEL,)))
SOUND = Manifest(
    producer="test",
    source="add.onnx",
    target="gpu",
    inputs=(Port("x", (4, 8), "float32", 0),),
    outputs=(Port("y", (4, 8), "float32", 1),),
    buffers=BUFFERS,
    steps=(IN, GpuStep(launches=(LAUNCH,), nodes=("Add_0",)), OUT),
    memory=Memory(128, 0, 0),
    spaces=(MemorySpace("gpu", 256, 256, 128),),
    parts=(GpuPart(CODES),),
    entries=(Entry("gpu/weights.bin", 128, ""), Entry(KERNEL.entry, 1, "")),
)


def test_a_sound_manifest_passes():
    check(SOUND)


def test_a_manifest_survives_json():
    assert Manifest.from_json(SOUND.to_json()) == SOUND


def test_candidates_pass_and_survive_json():
    made = replace(SOUND, **candidates({}, {"setting": "warps=4 stages=1"}))
    check(made)
    assert Manifest.from_json(made.to_json()) == made


def codes(*made: GpuCode) -> dict[str, Any]:
    return {"parts": (GpuPart(made),)}


def kernel(**change: Any) -> dict[str, Any]:
    return codes(GpuCode("sm_90", (replace(KERNEL, **change),)))


def parameter(like: GpuParameter, **change: Any) -> dict[str, Any]:
    return kernel(parameters=(replace(like, **change),))


def candidates(*changes: dict[str, Any]) -> dict[str, Any]:
    made = [replace(KERNEL, **({"setting": "warps=8 stages=1"} | change)) for change in changes]
    return codes(GpuCode("sm_90", (KERNEL,), 0, tuple(made)))


def launch(**change: Any) -> dict[str, Any]:
    return {"steps": (GpuStep(launches=(replace(LAUNCH, **change),)),)}


def placed(index: int, **change: Any) -> dict[str, Any]:
    buffers = list(BUFFERS)
    buffers[index] = replace(buffers[index], **change)
    return {"buffers": tuple(buffers)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (codes(), "'steps[1].kind' is 'gpu', but the package has no code for a GPU"),
        (codes(GpuCode("gfx942", (KERNEL,))), "'gpu[0].architecture' is 'gfx942', must look"),
        (codes(GpuCode("sm_90\n", (KERNEL,))), "must look like 'sm_90'"),
        (codes(*CODES, *CODES), "'gpu[2].architecture' is 'sm_90', as is an earlier one"),
        (codes(GpuCode("sm_90", (KERNEL,), -1)), "'gpu[0].driver' is -1, must be from 0"),
        (
            codes(GpuCode("sm_90", (KERNEL, KERNEL))),
            "'gpu[0].kernels[1].symbol' is 'add', as is an earlier one",
        ),
        (
            codes(CODES[0], GpuCode("sm_80", ())),
            "'steps[1].launches[0].kernel' is 'add', which sm_80 lacks",
        ),
        (kernel(function=""), "'gpu[0].kernels[0].function' is '', must name a function"),
        (kernel(entry="gpu/no.cubin"), ".entry' is 'gpu/no.cubin', which is not stored"),
        (kernel(grid=(1, 1)), ".grid' is [1, 1], must have 3 sizes"),
        (kernel(grid=(0, 1, 1)), ".grid[0]' is 0, must be from 1 to 2147483647"),
        (kernel(grid=(1, 65536, 1)), ".grid[1]' is 65536, must be from 1 to 65535"),
        (kernel(grid=(1, 1, 65536)), ".grid[2]' is 65536, must be from 1 to 65535"),
        (kernel(warps=0), ".warps' is 0, must be from 1 to 32"),
        (kernel(warps=33), ".warps' is 33, must be from 1 to 32"),
        (kernel(shared_bytes=-1), ".shared_bytes' is -1, must be from 0"),
        (
            candidates({"symbol": "mul"}),
            "candidates[0].symbol' is 'mul', which no kernel is called",
        ),
        (candidates({"setting": ""}), "'gpu[0].candidates[0].setting' is empty, must say what"),
        (candidates({}, {}), "candidates[1].setting' is 'warps=8 stages=1', as is an earlier one"),
        (candidates({"entry": "no"}), "'gpu[0].candidates[0].entry' is 'no', which is not stored"),
        (candidates({"warps": 64}), "'gpu[0].candidates[0].warps' is 64, must be from 1 to 32"),
        (
            candidates({"parameters": (replace(POINTER, shape=(5, 8)),)}),
            "'steps[1].launches[0]' for sm_90 reads or writes 160 bytes of 'x', which has 128",
        ),
        (parameter(POINTER, kind="scalar"), ".kind' is 'scalar', must be pointer or tensor_map"),
        (parameter(POINTER, buffer=-1), ".parameters[0].buffer' is -1, must not be negative"),
        (
            parameter(POINTER, buffer=3),
            "'steps[1].launches[0]' for sm_90 needs buffer 3, it passes 3 buffers",
        ),
        (parameter(POINTER, strides=(1,)), ".strides' is [1], must have one for each size of [4,"),
        (parameter(POINTER, strides=(8, -1)), "has negative sizes or strides"),
        (parameter(POINTER, dtype="f32"), ".dtype' is 'f32', which no runtime knows"),
        (parameter(POINTER, dtype=""), ".dtype' is empty, must be that of the elements"),
        (parameter(POINTER, swizzle=1), "is a pointer, which has neither block nor swizzle"),
        (
            parameter(POINTER, strides=(9, 1)),
            "for sm_90 reads or writes 140 bytes of 'x', which has 128",
        ),
        (parameter(POINTER, dtype="int64"), "reads or writes 256 bytes of 'x', which has 128"),
        (parameter(MAP, dtype="complex64"), ".dtype' is 'complex64', a tensor map takes bool"),
        (parameter(MAP, shape=(), strides=(), block=()), ".rank' is 0, must be from 1 to 5"),
        (parameter(MAP, block=(2,)), ".block' is [2], must have 2 sizes as the tensor has"),
        (parameter(MAP, block=(2, 512)), ".block[1]' is 512, must be from 1 to 256"),
        (parameter(MAP, block=(2, 2)), ".block' ends in 8 bytes, must be a multiple of 16"),
        (
            parameter(MAP, block=(2, 12)),
            ".block' ends in 48 bytes, must be a multiple of 16 up to 32",
        ),
        (parameter(MAP, shape=(0, 8)), ".shape[0]' is 0, must be from 1 to 2147483647"),
        (parameter(MAP, strides=(8, 2)), ".strides' ends in 2, a tensor map must end in 1"),
        (parameter(MAP, strides=(2, 1)), ".strides[0]' is 8 bytes, must be a multiple of 16"),
        (parameter(MAP, swizzle=4), ".swizzle' is 4, must be from 0 to 3"),
        (parameter(MAP, shape=(5, 8)), "reads or writes 160 bytes of 'w', which has 128"),
        (
            placed(3, offset=8, shape=(4, 7)) | parameter(MAP, shape=(3, 8)),
            "maps 'w', whose offset 8 must be a multiple of 16",
        ),
        ({"steps": (GpuStep(launches=()),)}, "'steps[0].launches' is empty, must have a launch"),
        (launch(kernel="mul"), "'steps[0].launches[0].kernel' is 'mul', which sm_90 lacks"),
        (
            launch(buffers=(2, 3, 6)),
            "'steps[0].launches[0].buffers[2]' is 6, must be at least 0 and below 6",
        ),
        (launch(buffers=(-1, 3, 4)), "'steps[0].launches[0].buffers[0]' is -1, must be at least 0"),
        (launch(buffers=(0, 3, 4)), ".buffers[0]' is 0, which is not in the memory of the GPU"),
        (launch(buffers=(2, 3, 5)), ".buffers[2]' is 5, which is not in the memory of the GPU"),
        (
            {"steps": (HostStep(op="tri.neg", operands=(2,), results=(1,)),)},
            "'steps[0].operands[0]' is 2, which is in memory 'gpu', must be in 'host'",
        ),
        (
            {"steps": (HostStep(op="tri.neg", operands=(0,), results=(2,)),)},
            "'steps[0].results[0]' is 2, which is in memory 'gpu', must be in 'host'",
        ),
        ({"steps": (CopyStep(operands=(0,)),)}, "is a copy, must have one operand and one"),
        (
            {"steps": (CopyStep(operands=(-1,), results=(2,)),)},
            "is a copy, must have one operand and one result",
        ),
        (
            {"steps": (CopyStep(operands=(0,), results=(3,)),)},
            "'steps[0].results[0]' is 3, which would overwrite the weights",
        ),
        (
            {"steps": (CopyStep(operands=(4,), results=(0,)),)},
            "'steps[0].results[0]' is 0, which would overwrite an input",
        ),
        (
            {"steps": (CopyStep(operands=(2,), results=(4,)),)},
            "'steps[0]' copies within memory 'gpu', must copy to another",
        ),
        (
            {"steps": (CopyStep(operands=(0,), results=(5,)),)},
            "'steps[0]' copies within memory 'host', must copy to another",
        ),
        (placed(2, shape=(4, 7)), "'steps[0]' copies 128 bytes to a buffer of 112"),
        (placed(4, offset=132), "'buffers[4]' ends at byte 260, its base 5 has 256"),
        (
            {"outputs": (Port("y", (4, 8), "float32", 4),)},
            "'outputs[0].buffer' is 4, which is in memory 'gpu', must be copied to",
        ),
        (
            {"inputs": (Port("x", (4, 8), "float32", 2),)},
            "'inputs[0].buffer' is 2, which lies at base 5 offset 0, must lie at base 3",
        ),
        (
            {"spaces": (MemorySpace("gpu", 256, 256, 64),)},
            "'spaces[0].weight_bytes' is 64, 'gpu/weights.bin' has 128 bytes",
        ),
        (
            {"spaces": (MemorySpace("gpu", -1, 256, 128),)},
            "'spaces[0].arena_bytes' is -1, must be from 0 to",
        ),
    ],
)
def test_a_manifest_that_does_not_fit_together_is_refused(change: dict[str, Any], message: str):
    with pytest.raises(PackageError) as caught:
        check(replace(SOUND, **change))
    assert str(caught.value).startswith("manifest: ")
    assert "\n" not in str(caught.value).replace("sm_90\n", "")
    assert message in str(caught.value)


def test_maps_of_all_there_is_are_fine():
    whole = replace(MAP, block=(4, 8), swizzle=3)
    check(replace(SOUND, **kernel(parameters=(POINTER, whole))))


def test_an_architecture_may_take_other_parameters():
    other = replace(KERNEL, parameters=(GpuParameter("pointer", 2),), grid=(2, 1, 1), warps=8)
    check(replace(SOUND, **codes(CODES[0], GpuCode("sm_80", (other,)))))


def assert_one_line(error: PackageError) -> None:
    assert "\n" not in str(error)


@settings(deadline=None, max_examples=400)
@given(st.integers(0, 1 << 30))
def test_a_forged_manifest_is_refused_or_sound(forge: Callable[[Any, int], Any], seed: int):
    text = json.dumps(forge(json.loads(SOUND.to_json()), seed))
    try:
        manifest = Manifest.from_json(text)
        check(manifest)
    except PackageError as error:
        assert_one_line(error)
        return
    assert Manifest.from_json(manifest.to_json()) == manifest
