"""Compiling source: code, the cache, the same bytes again, and all that can go wrong."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sources import (
    AMPERE,
    CDNA,
    HOPPER,
    compiled,
    double,
    failure,
    matmul_descriptors,
    needs_triton,
)
from trivium.dialects.core.errors import CompileError
from trivium.targets.cache import VARIABLE
from trivium.targets.gpu.emit.compile_sources import Job, compile_sources
from trivium.targets.gpu.emit.compiled import Compiled, Descriptor
from trivium.targets.gpu.emit.compiler_pool import compiler_pool
from trivium.targets.gpu.schedule.architecture import Architecture

DOUBLE = Job(double())


@needs_triton
def test_code_says_how_it_is_launched() -> None:
    made = compiled(replace(DOUBLE, warps=8))
    assert made.code.startswith(b"\x7fELF")
    assert ".visible .entry double(" in made.assembly
    assert (made.function, made.warps, made.shared_bytes) == ("double", 8, 0)
    assert made.descriptors == ()


@needs_triton
def test_pointers_are_known_to_be_aligned() -> None:
    assert "ld.global.v" in compiled(DOUBLE).assembly


@needs_triton
def test_descriptors_say_what_they_move() -> None:
    made = compiled(Job(matmul_descriptors(), warps=8))
    boxes = [descriptor.block for descriptor in made.descriptors]
    assert boxes == [(128, 64), (64, 64), (128, 64)]  # 128 bytes of a row at a time
    assert {descriptor.swizzle for descriptor in made.descriptors} == {3}


@needs_triton
def test_each_architecture_gets_its_own_code() -> None:
    assert ".target sm_80" in compiled(DOUBLE, AMPERE).assembly
    assert ".target sm_90a" in compiled(DOUBLE, HOPPER).assembly
    assert "-gfx942" in compiled(DOUBLE, CDNA).assembly


@needs_triton
def test_strict_math_contracts_nothing() -> None:
    source = double("shift", "2.0 + 1.0")
    fast, strict = compiled(Job(source)), compiled(Job(source, strict=True))
    assert "fma.rn" in fast.assembly
    assert "fma.rn" not in strict.assembly


@needs_triton
def test_results_come_in_the_order_of_the_jobs() -> None:
    names = ["c", "a", "b", "a"]
    jobs = [Job(double(name, str(float(ord(name))))) for name in names]
    made = compile_sources(jobs, HOPPER)
    assert [m.function for m in made if isinstance(m, Compiled)] == names
    assert made[1] is made[3]


@needs_triton
def test_equal_jobs_are_compiled_once_and_then_come_from_the_cache() -> None:
    heard: list[str] = []
    first = compile_sources([DOUBLE, DOUBLE], HOPPER, heard.append)
    second = compile_sources([DOUBLE], HOPPER, heard.append)
    assert heard == ["kernel 1 of 1"]
    assert first == [*second, *second]


@needs_triton
@pytest.mark.parametrize(
    "other", [Job(double(factor="3.0")), replace(DOUBLE, warps=2), replace(DOUBLE, strict=True)]
)
def test_another_job_is_compiled_anew(other: Job) -> None:
    heard: list[str] = []
    compile_sources([DOUBLE], HOPPER, heard.append)
    compile_sources([other], HOPPER, heard.append)
    assert heard == ["kernel 1 of 1", "kernel 1 of 1"]


@needs_triton
def test_another_process_makes_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    job = Job(matmul_descriptors(64, 64, 64))
    first = compiled(job)
    compiler_pool().close()
    assert compiled(job) == first


@needs_triton
def test_nothing_is_written_but_the_cache(
    tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler_pool().close()
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(home / "triton"))
    compiled(DOUBLE)
    assert list(home.iterdir()) == []
    assert [path.suffix for path in cache_folder.rglob("*.*")] == [".gpu"]
    compiler_pool().close()


@needs_triton
def test_what_the_user_sets_for_triton_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler_pool().close()
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert compiled(DOUBLE).code
    compiler_pool().close()


@needs_triton
def test_triton_is_not_imported_where_sources_are_compiled() -> None:
    program = (
        "from sources import compiled, double;"
        "from trivium.targets.gpu.emit.compile_sources import Job;"
        "compiled(Job(double())); import sys; assert 'triton' not in sys.modules"
    )
    paths = [str(Path(__file__).parents[1]), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


@needs_triton
def test_what_triton_refuses_is_reported_in_its_words() -> None:
    wrong = double(factor="tl.laod(x_ptr)")
    refused = failure(Job(wrong))
    assert str(refused) == (
        "kernel 'double' was not compiled: "
        "AttributeError(\"module 'triton.language' has no attribute 'laod'\")"
    )
    assert "tl.store(y_ptr + offsets, x * tl.laod(x_ptr), mask=inside)" in refused.details


@needs_triton
@pytest.mark.parametrize("architecture", [AMPERE, CDNA], ids=lambda a: a.name)
def test_descriptors_are_refused_where_there_are_none(architecture: Architecture) -> None:
    refused = failure(Job(matmul_descriptors()), architecture=architecture)
    assert refused.message == f"it moves blocks by descriptors, which {architecture.name} does not"


@needs_triton
def test_failures_are_not_remembered(cache_folder: Path) -> None:
    failure(Job(double(factor="oops")))
    assert not cache_folder.exists()


@needs_triton
def test_a_crash_takes_no_other_kernel_along() -> None:
    end = "import os\nprint('out of luck', flush=True)\nos.abort()\n"
    crashing = replace(double("crashing"), text=end)
    made = compile_sources([Job(crashing), DOUBLE, Job(double(factor="3.0"))], HOPPER)
    assert str(made[0]) == (
        "kernel 'crashing' was not compiled: the process crashed with signal SIGABRT: out of luck"
    )
    assert all(isinstance(m, Compiled) for m in made[1:])


@needs_triton
def test_a_kernel_that_takes_too_long_is_given_up() -> None:
    endless = replace(double("endless"), text="while True:\n    pass\n")
    assert failure(Job(endless), seconds=1).message == "the process took over 1 seconds"
    assert compiled(DOUBLE)


@needs_triton
def test_an_interrupt_leaves_no_worker_with_work() -> None:
    def interrupt(kernel: str) -> None:
        raise KeyboardInterrupt

    jobs = [Job(double(factor=f"{i}.0")) for i in range(3)]
    with pytest.raises(KeyboardInterrupt):
        compile_sources(jobs, HOPPER, interrupt)
    assert [m.function for m in compile_sources(jobs, HOPPER) if isinstance(m, Compiled)] == [
        "double"
    ] * 3


def test_without_triton_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(CompileError) as error:
        compile_sources([DOUBLE], HOPPER)
    assert str(error.value) == (
        "error: compiling for a GPU needs triton, which is not installed: "
        "pip install 'trivium[gpu]'"
    )


def test_a_kernel_is_read_back_as_it_was_written() -> None:
    boxes = (Descriptor((64, 32), 2), Descriptor((8,), 0))
    made = Compiled(os.urandom(64) + b"\n", "text\nof ü\n", "f", 4, 1024, boxes, "3.6.0")
    assert Compiled.from_bytes(made.to_bytes()) == made
