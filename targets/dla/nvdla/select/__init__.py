"""TensorSel and IrOptimization of NVDLA: replace integer ops by those of its engines.

Start at `select_nvdla.py`; `convolutions.py` has convolutions and what becomes one, `limits.py`
what a configuration does not run.
"""
