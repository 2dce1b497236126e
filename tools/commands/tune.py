"""Measure settings of a model's kernels on a GPU of this machine, and note the fastest in a file.

With --ray it is schedules for CPUs, on a cluster of Ray whose nodes have one kind of CPU.

MODEL is a package (.trv) made by `trivium compile --candidates`, which takes nothing but numpy and
the driver of the GPU; or a model, which is compiled first. A file that is there is added to.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .. import arguments
from ..progress import NOTE, Progress, shown_progress

if TYPE_CHECKING:
    from ...runtime.gpu.tuning import Measured
    from ...runtime.package import Package
    from ...targets.tuning_file import Entry, TuningFormat

    Entries = dict[str, Entry[str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="MODEL", help=f"a package with candidates, or {arguments.MODEL}"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE.json", required=True, help="the tuning file to write"
    )
    parser.add_argument(
        "--device", metavar="N", type=int, default=0, help="the GPU to measure on, 0 is the first"
    )
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="measure for CPUs on this cluster of Ray: HOST:PORT, auto, or local to start one",
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=arguments.count,
        help="how many tasks --ray has, 2 by default",
    )
    arguments.add_key_argument(parser)
    arguments.add_compile_arguments(parser, without=["exact"])


def run(flags: argparse.Namespace) -> None:
    """Measure kernel by kernel; the file is written after each, so nothing measured is lost."""
    if flags.ray is not None:
        _tune_on_cluster(flags)
        return
    if flags.workers:
        flags.refuse("--workers is for --ray")
    from ...runtime.gpu.device import Device
    from ...runtime.gpu.tuning import describe_device, measure_kernels, tunable_code
    from ...targets.tuning_file import Entry, gpu_tuning_format

    _check(flags)
    device = Device.open(flags.device)
    with shown_progress() as progress:
        package = _package(flags, device.architecture, progress)
        code = tunable_code(package.manifest, device)
        form = gpu_tuning_format(str, code.architecture, describe_device(device))
        entries = _entries(form, flags.output)
        form.write(flags.output, entries)
        lines: list[str] = []

        def take(measured: "Measured") -> None:
            times = {setting: round(time, 2) or 0.01 for setting, time in measured.times.items()}
            entries[measured.kernel] = entry = Entry[str].of(times)
            form.write(flags.output, entries)
            lines.append(_spell(measured.kernel, entry))
            for setting, reason in measured.refused.items():
                progress(f"{NOTE}{measured.kernel} with {setting} is left out: {reason}")

        known = {name: entry.candidates for name, entry in entries.items()}
        measure_kernels(package, device, progress, take, known)
    print(*lines, f"{flags.output}: {len(lines)} kernels measured on {device.name}", sep="\n")


def _tune_on_cluster(flags: argparse.Namespace) -> None:
    from ..cluster import tune

    if arguments.is_package(flags.model):
        flags.refuse(f"'{flags.model}' is a package: --ray takes a model, which workers compile")
    if (kind := arguments.target_name(flags)) != "cpu":
        flags.refuse(f"--ray measures for target 'cpu', and target is '{kind}'")
    arguments.refuse_key(flags, flags.model)
    choices = arguments.compile_arguments(flags)
    workers = flags.workers or 2
    measured = tune(
        str(Path(flags.model).resolve()),
        flags.output,
        workers=workers,
        address=flags.ray,
        **choices,
    )
    print(f"{flags.output}: {len(measured)} kinds of ops measured by {workers} tasks")


def _check(flags: argparse.Namespace) -> None:
    if arguments.is_package(flags.model):
        if given := arguments.given_compile_arguments(flags):
            flags.refuse(f"{', '.join(given)}: a package is compiled already")
        return
    arguments.refuse_key(flags, flags.model)
    kind = (flags.target or "gpu").partition(":")[0]
    if kind != "gpu":
        flags.refuse(
            f"kernels for target '{kind}' are not measured by this command; those for a CPU are "
            "measured as they are compiled: trivium compile MODEL --tune FILE.json, or with --ray"
        )
    if arguments.is_package(flags.output):
        flags.refuse(f"'{flags.output}' must be a file of its own, not a package")


def _package(flags: argparse.Namespace, architecture: str, progress: Progress) -> "Package":
    if arguments.is_package(flags.model):
        return arguments.open_package(flags, flags.model)
    from ...compiler.driver import build

    choices = arguments.compile_arguments(flags)
    choices.setdefault("target", f"gpu:{architecture}")
    return build(flags.model, candidates=True, progress=progress, **choices)


def _entries(form: "TuningFormat[str]", path: str) -> "Entries":
    """Return what a file holds already; CompileError where it would be lost."""
    from ...dialects.core.errors import CompileError

    if not Path(path).exists():
        return {}
    tuning = form.read(path)
    if tuning.foreign:
        raise CompileError(f"{path} {tuning.foreign}: tune to another file, or remove this one")
    return dict(tuning.entries)


def _spell(kernel: str, entry: "Entry[str]") -> str:
    (default, time), *_ = entry.candidates.items()
    faster = time / entry.time_us
    return f"{kernel}: {entry.schedule}, {entry.time_us:.2f} us, {faster:.2f}x as fast as {default}"
