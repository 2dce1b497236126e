"""`MachinePattern`: a rewrite that depends on what the kernels will run on."""

from ....dialects.core.machine import Machine
from ....passes.rewriting import Pattern


class MachinePattern(Pattern):
    """Base of patterns whose result is for one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
