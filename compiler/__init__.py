"""Who puts it together: frontends, and the driver from a model to a session."""

from importlib.util import find_spec

from ..dialects.core.errors import CompileError

if find_spec("torch_mlir") is None:
    raise CompileError("compiling needs the package torch-mlir: install trivium with what it needs")
