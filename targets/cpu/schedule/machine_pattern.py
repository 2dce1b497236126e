"""`MachinePattern`: a rewrite that depends on the machine of the kernels."""

from ....dialects.core.machine import Machine
from ....passes.rewriting import Pattern


class MachinePattern(Pattern):
    """Base of patterns whose result is for one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
