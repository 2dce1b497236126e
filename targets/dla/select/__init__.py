"""TensorSel and IrOptimization: replace integer ops by ops of the accelerator, and group them.

Imported by the pipeline and by selection rules of other accelerators. Start at `select_dla.py`;
`selection.py` has what the rules share, `limits.py` the limits of packets.
"""
