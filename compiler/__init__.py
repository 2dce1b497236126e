"""Who puts it together: frontends, the driver, and the public API."""

from ..dialects.core.errors import CompileError
from .driver import build, compile

__all__ = ["CompileError", "build", "compile"]
