"""The public names for Ray, imported as `trivium.ray`: this folder is installed as that package.

Start reading at `tools/cluster/predictor.py`.
"""

from trivium.tools.cluster import (  # pyright: ignore[reportMissingImports]
    Predictor as Predictor,  # pyright: ignore[reportUnknownVariableType]
)
from trivium.tools.cluster import (  # pyright: ignore[reportMissingImports]
    spread as spread,  # pyright: ignore[reportUnknownVariableType]
)
from trivium.tools.cluster import (  # pyright: ignore[reportMissingImports]
    tune as tune,  # pyright: ignore[reportUnknownVariableType]
)
