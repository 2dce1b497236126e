"""Native code as a manifest describes it: kernels, and the CPUs that can run them."""

from ..frozen import Frozen


class Kernel(Frozen):
    """Describe one compiled kernel: its object, what it computes, how often it is called.

    A run makes `calls` of them, loading the package makes `load_calls`.
    """

    symbol: str
    object: str
    nodes: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    calls: int = 1
    load_calls: int = 0


class CpuRequirements(Frozen):
    """Describe the CPU that native code was compiled for; features as /proc/cpuinfo spells them.

    `machine` is the name that the compiler was given; it names the folder of the code, too.
    """

    architecture: str = "x86_64"
    features: tuple[str, ...] = ()
    machine: str = ""

    @property
    def folder(self) -> str:
        """Return how the names of entries with this code begin."""
        return f"cpu/{self.machine}/" if self.machine else "cpu/"
