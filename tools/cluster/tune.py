"""Tune a model for CPUs on a cluster: each task measures a share of the kinds of ops."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .connection import connected

if TYPE_CHECKING:
    from ...compiler.source import Source
    from ...dialects.core.errors import CompileError
    from ...targets.cpu.schedule.schedule import Schedule
    from ...targets.tuning_file import Entry

SCRATCH = "tune.json"


def tune(
    model: "Source",
    file: str,
    *,
    workers: int = 2,
    address: str | None = None,
    **options: Any,
) -> list[str]:
    """Measure the schedules of a model on a Ray cluster, and write them to a tuning file.

    Each of `workers` tasks compiles the model with `options`, those of `trivium.build`, on one CPU
    and measures its share of the kinds of ops that the file lacks; a `file` that is there is added
    to. `model` is pickled, or a path that each node has. `address` is that of `ray.init`, unless
    Ray runs by now. Tasks whose worker dies are run again.

    Returns the kinds of ops that were measured. Raises CompileError for what does not compile, and
    where the file, or a worker, is of another CPU than the one that calls.
    """
    from ...dialects.core.errors import CompileError
    from ...dialects.core.machine import host_machine
    from ...targets.cpu.schedule.tuning_file import tuning_format

    ray = connected("tuning on a cluster", address)
    known = Path(file).read_text() if Path(file).exists() else ""
    before = _entries(known, file) if known else {}
    task = ray.remote(max_retries=3)(measure_share)
    source = str(model) if isinstance(model, Path) else model
    shares = [task.remote(source, known, (number, workers), options) for number in range(workers)]
    found = dict(before)
    for text in ray.get(shares):
        if isinstance(text, CompileError):
            raise text
        made = _entries(text, "the file of a worker") if text else {}
        found |= {key: entry for key, entry in made.items() if entry != before.get(key)}
    tuning_format(host_machine()).write(file, found)
    return [key for key, entry in found.items() if entry != before.get(key)]


def measure_share(
    model: "Source", known: str, share: tuple[int, int], options: Mapping[str, Any]
) -> "str | CompileError":
    """Measure one share on a worker; return the text of its tuning file, or what was wrong.

    The text is empty where the model has nothing to measure.
    """
    from ...compiler.tune import measure
    from ...dialects.core.errors import CompileError

    with tempfile.TemporaryDirectory(prefix="trivium-tune-") as folder:
        file = Path(folder, SCRATCH)
        if known:
            file.write_text(known)
        try:
            measure(model, tune=str(file), tune_share=share, **options)
        except CompileError as error:
            return error
        return file.read_text() if file.exists() else ""


def _entries(text: str, path: str) -> "dict[str, Entry[Schedule]]":
    """Return the entries of a tuning file; CompileError where another machine has written it."""
    from ...dialects.core.errors import CompileError
    from ...dialects.core.machine import host_machine
    from ...targets.cpu.schedule.tuning_file import tuning_format

    tuning = tuning_format(host_machine()).parse(text, path)
    if tuning.foreign:
        raise CompileError(f"{path} {tuning.foreign}: tune where all CPUs are the same")
    return dict(tuning.entries)
