"""Compile Triton source to code for one architecture, kernel by kernel, on all cores.

No GPU is needed, and no driver. Only the processes of `compiler_pool.py` import Triton itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version
from typing import Any

from ....dialects.core.extras import require
from ...cache import recall, remember
from ...core import Progress, kernel_progress
from ...process_pool import TIMEOUT_SECONDS, Reply, Request
from ..schedule.architecture import Architecture
from .compiled import Compiled, Descriptor
from .compiler_pool import compiler_pool
from .source import Source

CACHE_SUFFIX = ".gpu"


@dataclass(frozen=True)
class Job:
    """Ask for a kernel: its source, and how many warps share a program and stages a loop.

    `strict` keeps a multiplication and an addition two operations, each rounded.
    """

    source: Source
    warps: int = 4
    stages: int = 3
    strict: bool = False


@dataclass(frozen=True)
class Failure:
    """A kernel that was not compiled: the reason in one line, and the compiler's whole message."""

    kernel: str
    message: str
    details: str = ""

    def __str__(self) -> str:
        return f"kernel '{self.kernel}' was not compiled: {self.message}"


def triton_version() -> str:
    """Return the version of Triton; CompileError when it is not installed."""
    require("triton", "compiling for a GPU")
    return version("triton")


def compile_sources(
    jobs: Sequence[Job],
    architecture: Architecture,
    progress: Progress = lambda kernel: None,
    seconds: float = TIMEOUT_SECONDS,
) -> list[Compiled | Failure]:
    """Compile kernels for an architecture; the results are in the order of the jobs.

    Equal jobs are compiled once, and those of earlier runs come from the cache. `progress` hears
    of each kernel that was compiled, with its nodes. A kernel that Triton refuses, that crashes it
    or takes longer than `seconds` is a `Failure`. Raises CompileError when Triton is not installed.
    """
    triton = triton_version()
    made: dict[Job, Compiled | Failure] = {}
    for job in dict.fromkeys(jobs):
        if (refused := _refusal(job, architecture)) is not None:
            made[job] = refused
        elif (found := recall(_identity(job, architecture, triton), CACHE_SUFFIX)) is not None:
            made[job] = Compiled.from_bytes(found)
    lacking = [job for job in dict.fromkeys(jobs) if job not in made]
    done: set[int] = set()

    def report(index: int, reply: Reply) -> None:
        job = lacking[index]
        done.add(index)
        result = made[job] = _result(job, reply, triton)
        if isinstance(result, Compiled):
            identity = _identity(job, architecture, triton)
            remember(identity, result.to_bytes(), CACHE_SUFFIX)
        progress(kernel_progress(len(done), len(lacking), job.source.nodes))

    compiler_pool().run([_request(job, architecture) for job in lacking], report, seconds)
    return [made[job] for job in jobs]


def _refusal(job: Job, architecture: Architecture) -> Failure | None:
    """Reject a kernel that Triton would compile to code with other parameters than its source."""
    if architecture.descriptors or not any(p.is_descriptor for p in job.source.parameters):
        return None
    message = f"it moves blocks by descriptors, which {architecture.name} does not"
    return Failure(job.source.name, message)


def _options(job: Job) -> dict[str, Any]:
    return {
        "num_warps": job.warps,
        "num_stages": job.stages,
        "enable_fp_fusion": not job.strict,
    }


def _request(job: Job, architecture: Architecture) -> Request:
    return {
        "text": job.source.text,
        "name": job.source.name,
        "signature": job.source.signature,
        "constexprs": dict(job.source.constexprs),
        "target": (architecture.backend, architecture.number, architecture.warp_size),
        "options": _options(job),
    }


def _identity(job: Job, architecture: Architecture, triton: str) -> str:
    """Return the cache key: all inputs of the compilation, and the fields that are cached."""
    kept = sorted(field.name for field in fields(Compiled))
    return repr((triton, kept, sorted(_request(job, architecture).items())))


def _result(job: Job, reply: Reply, triton: str) -> Compiled | Failure:
    if "error" in reply:
        return _failure(job.source.name, reply["error"])
    made = reply["made"]
    if made["global_scratch_size"] or made["num_ctas"] != 1:
        return Failure(job.source.name, "it needs scratch memory or clusters of programs")
    return Compiled(
        code=made["code"],
        assembly=made["assembly"],
        function=made["name"],
        warps=made["num_warps"],
        shared_bytes=made["shared"],
        descriptors=tuple(map(_descriptor, made["tensordesc_meta"])),
        triton=triton,
    )


def _descriptor(metadata: Mapping[str, Any]) -> Descriptor:
    return Descriptor(tuple(metadata["block_size"]), metadata["swizzle"])


def _failure(kernel: str, words: str) -> Failure:
    """Use the last line of an error, which has Triton's reason, as the message."""
    lines = [line.strip() for line in words.splitlines() if line.strip(" ^")]
    return Failure(kernel, lines[-1], words)
