"""The target-free pipeline of each optimisation level."""

from .core import Pass


def default_pipeline(opt_level: int) -> tuple[Pass, ...]:
    """Return the passes that run on every model before target passes."""
    return ()
