"""The text of modules that should be equal, without what only the way to them decides."""

import hashlib
import re

from trivium.dialects.core.module import Module
from trivium.passes.cse import Cse
from trivium.passes.eliminate import Eliminate
from trivium.passes.fold.fold_constants import FoldConstants
from trivium.passes.pipeline import Pipeline

CANONICAL = Pipeline((Eliminate(), FoldConstants(), Cse(), Eliminate()))
"""What makes equal IR of sizes that were computed by ops and of sizes that were constants."""


def canonical(module: Module) -> str:
    """Return the text of a module after `CANONICAL`, with weights named after their contents."""
    CANONICAL.run(module)
    names = {
        name: hashlib.sha256(array.tobytes()).hexdigest()[:16]
        for name, array in module.weights.items()
    }
    return re.sub(r'(?<=tri.weight"\(\) {name = ")[^"]*', lambda m: names[m[0]], str(module))
