"""An operator of a graph and the weights of a graph, as rules see them. No MLIR."""

from abc import ABC, abstractmethod

from ....dialects.core.tensor import Array


class Node(ABC):
    """An operator whose rule asks for the operator itself."""

    name: str
    type: str

    @property
    @abstractmethod
    def result_count(self) -> int:
        """The number of results that the graph has for the operator."""


class Weight(ABC):
    """Numbers beside a graph, which are read when somebody asks for them."""

    @property
    @abstractmethod
    def is_complex(self) -> bool: ...

    @abstractmethod
    def array(self) -> Array:
        """Return the numbers; they are not to be written to."""
