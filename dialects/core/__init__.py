"""The base of all dialects: ops and their fields, types, verification, errors, modules.

All other folders import it; only `mlir.py` imports MLIR's bindings. Start reading at `op.py`, then
`fields.py` and `module.py`.
"""
