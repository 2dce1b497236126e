"""Tuning files of CPUs: measured schedules and their times."""

from collections.abc import Mapping

from ....dialects.core.machine import Machine, model_name
from ...tuning_file import Entry, TuningFormat
from .schedule import Schedule

Entries = Mapping[str, Entry[Schedule]]


def tuning_format(machine: Machine) -> TuningFormat[Schedule]:
    """Return the format of tuning files of a machine."""
    described: dict[str, object] = {
        "model": model_name(),
        "vector_bytes": machine.vector_bytes,
        "features": sorted(machine.features),
    }
    return TuningFormat(Schedule.parse, described)
