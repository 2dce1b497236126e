"""Measure the kernels of a package with all the settings that it holds."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from ..errors import Fault, RunError
from ..frozen import Frozen
from ..manifest import Manifest
from ..package import Package
from ..step import all_steps
from .code import GpuCode, GpuKernel
from .device import Device
from .driver import spell_version
from .handles import Stream
from .kernels import BoundLaunch
from .part import GpuPart
from .step import GpuStep
from .trial import Trial, difference

Report = Callable[[str], None]


class Measured(Frozen):
    """Hold the microseconds that a kernel takes with each setting, and why others were refused."""

    kernel: str
    times: dict[str, float]
    refused: dict[str, str]


def tunable_code(manifest: Manifest, device: Device) -> GpuCode:
    """Return the code of a package for a GPU; raise RunError where it holds no candidates."""
    codes = manifest.part(GpuPart).codes
    if not codes:
        raise RunError(
            "the package has nothing for a GPU: compile the model again with --target gpu"
        )
    code = device.choose(codes)
    if not code.candidates:
        raise RunError(
            "the package holds no settings to choose from: compile the model with --candidates"
        )
    return code


def measure_kernels(
    package: Package,
    device: Device,
    report: Report,
    take: Callable[[Measured], None],
    known: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> None:
    """Measure each kernel of a package that has candidates, and give what was found to `take`.

    Kernels all of whose settings are `known` are left out.

    A candidate whose results are not those of the kernel it could stand for, within the tolerance
    of their types, is refused, and so is one that cannot be launched. Raises RunError where a
    kernel fails on the GPU.
    """
    code = tunable_code(package.manifest, device)
    steps = [step for step in all_steps(package.manifest.steps) if isinstance(step, GpuStep)]
    launches = {launch.kernel: launch for step in steps for launch in step.launches}
    listed = [
        kernel
        for kernel in code.kernels
        if kernel.symbol in launches
        and not settings_of(code, kernel) <= set(known.get(kernel.symbol, ()))
        and _candidates(code, kernel)
    ]
    with device:
        stream = Stream(device)
        for number, kernel in enumerate(listed):
            report(f"tune {number + 1} of {len(listed)}: {kernel.symbol}")
            with Trial(package, launches[kernel.symbol], device, stream) as trial:
                take(_measure(trial, kernel, _candidates(code, kernel)))
        stream.close()


def describe_device(device: Device) -> dict[str, object]:
    """Describe a GPU for tuning files."""
    return {"device": device.name, "driver": spell_version(device.driver.version)}


def settings_of(code: GpuCode, kernel: GpuKernel) -> set[str]:
    """Return the setting of a kernel and those of its candidates."""
    return {kernel.setting, *(c.setting for c in _candidates(code, kernel))}


def _candidates(code: GpuCode, kernel: GpuKernel) -> list[GpuKernel]:
    return [c for c in code.candidates if c.symbol == kernel.symbol and c.setting != kernel.setting]


def _measure(trial: Trial, kernel: GpuKernel, candidates: list[GpuKernel]) -> Measured:
    default = trial.prepare(kernel)
    wanted = trial.results(default)
    sound: dict[str, BoundLaunch] = {kernel.setting: default}
    refused: dict[str, str] = {}
    for candidate in candidates:
        try:
            bound = trial.prepare(candidate)
        except Fault as error:
            refused[candidate.setting] = str(error)
            continue
        if fault := difference(trial.results(bound), wanted):
            refused[candidate.setting] = fault
        else:
            sound[candidate.setting] = bound
    times = trial.times(list(sound.values()))
    return Measured(kernel.symbol, dict(zip(sound, times, strict=True)), refused)
