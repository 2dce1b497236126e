"""The cases of the GPU benchmark: products of matrices, and whole networks."""

from dataclasses import dataclass

from ....runtime import SUFFIX

SIZES = (512, 1024, 2048, 4096, 8192)
"""Rows, columns and depth of the products of f16; 4096 is the one to quote."""

NETWORKS = ("resnet_50", "mobilenet_v2", "vit_tiny", "bert_base", "gpt_2")
PRECISIONS = ("fp16", "f32")

MATMUL, NETWORK = "matmul", "network"


@dataclass(frozen=True)
class Case:
    """Name one thing to measure; `size` is that of a product, `precision` that of a network."""

    kind: str
    name: str
    size: int = 0
    precision: str = "fp16"

    @property
    def title(self) -> str:
        """Return how the case is called in reports and in file names."""
        if self.kind == MATMUL:
            return f"{self.name}-{self.size}-{self.precision}"
        return f"{self.name}-{self.precision}"

    @property
    def file(self) -> str:
        """Return the name of the package of the case."""
        return f"{self.title}{SUFFIX}"


def cases(only: str = "") -> list[Case]:
    """List all cases, or those with a word in their titles."""
    listed = [Case(MATMUL, "matmul", size) for size in SIZES]
    listed += [Case(NETWORK, name, 0, precision) for name in NETWORKS for precision in PRECISIONS]
    return [case for case in listed if only in case.title]
