"""The table of architectures, and the strings that name them."""

import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.gpu.schedule.architecture import (
    ARCHITECTURES,
    architecture_names,
    find_architecture,
    find_architectures,
)


def test_the_limits_of_a_block() -> None:
    """The numbers of the CUDA C++ Programming Guide, in bytes."""
    shared = {a.name: a.shared_bytes for a in ARCHITECTURES}
    assert shared == {
        "sm_80": 166912,
        "sm_86": 101376,
        "sm_89": 101376,
        "sm_90": 232448,
        "sm_100": 232448,
        "sm_120": 101376,
        "gfx942": 65536,
    }


def test_a_block_leaves_room_for_what_the_system_reserves() -> None:
    for a in ARCHITECTURES:
        assert a.shared_bytes + a.reserved_bytes <= a.multiprocessor_bytes, a.name


def test_names_are_found() -> None:
    assert [find_architecture(name).name for name in architecture_names()] == list(
        architecture_names()
    )


@pytest.mark.parametrize(
    ("name", "meant"),
    [("sm90", "sm_90"), ("H100", "sm_90"), ("sm_91", "sm_90"), ("gfx940", "gfx942")],
)
def test_a_wrong_name_is_answered_with_a_close_one(name: str, meant: str) -> None:
    with pytest.raises(CompileError) as error:
        find_architecture(name)
    assert str(error.value) == (
        f"error: no GPU architecture is called '{name}', did you mean '{meant}', "
        "there are: sm_80, sm_86, sm_89, sm_90, sm_100, sm_120, gfx942"
    )


def test_a_name_like_none_is_answered_with_all() -> None:
    with pytest.raises(CompileError, match="is called 'tpu', there are: sm_80, "):
        find_architecture("tpu")


def test_a_target_names_several_in_its_order() -> None:
    assert [a.name for a in find_architectures("gpu:sm_90 + sm_80")] == ["sm_90", "sm_80"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("cpu:sm_80", "target is 'cpu:sm_80', must begin with 'gpu:'"),
        ("gpu", "target 'gpu' lacks the name of a GPU architecture, there are: sm_80, "),
        ("gpu:", "target 'gpu:' lacks the name of a GPU architecture, there are: sm_80, "),
        ("gpu:sm_80+", "target 'gpu:sm_80+' lacks the name of a GPU architecture"),
        ("gpu:sm_80+sm_80", "target 'gpu:sm_80+sm_80' names 'sm_80' twice"),
        ("gpu:sm_80+sm_9", "no GPU architecture is called 'sm_9', did you mean 'sm_90'"),
    ],
)
def test_wrong_targets(target: str, message: str) -> None:
    with pytest.raises(CompileError) as error:
        find_architectures(target)
    assert str(error.value).startswith(f"error: {message}")
