"""What cost-based placement knows of each op: how long every target that takes it would need."""

from collections.abc import Collection, Sequence

from ..dialects import tri
from ..dialects.core.location import node_names
from ..dialects.core.module import Module
from ..passes.pipeline import Instrumentation, Stage
from ..targets.core import Target
from ..targets.options import DEFAULT
from ..targets.placement.claims import claim
from ..targets.placement.partition import Partition, placeable_ops


class Estimates(Instrumentation):
    """Note the estimates of targets for each op of a model as it is when it is partitioned.

    They are those of the program that was partitioned last; without targets there are none.
    """

    def __init__(self, targets: Sequence[Target]) -> None:
        self._targets = targets
        self._ops: list[tuple[frozenset[str], dict[str, float]]] = []

    def before(self, stage: Stage, module: Module) -> None:
        if stage.name != Partition.name or not self._targets:
            return
        self._ops = []
        for block in tri.run_blocks(module.main):
            for op in placeable_ops(block):
                taking = (t for t in self._targets if claim(op, t, module, DEFAULT).whole)
                seconds = {target.name: target.seconds(op) for target in taking}
                self._ops.append((frozenset(node_names(op.location)), seconds))

    def of(self, nodes: Collection[str]) -> dict[str, float]:
        """Return the seconds of the ops of nodes on each target that takes all of them.

        Each op is a kernel of its own in them, as for placement by cost. Nothing is known of nodes
        whose ops have become parts of others.
        """
        found = [seconds for of, seconds in self._ops if of and of <= set(nodes)]
        names = [t.name for t in self._targets if all(t.name in seconds for seconds in found)]
        return {name: sum(seconds[name] for seconds in found) for name in names if found}
