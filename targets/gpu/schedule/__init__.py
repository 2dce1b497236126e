"""Block sizes, warps and stages of kernels: first choices, candidates, cost model, tuning files.

Lowerings and code generation import this package; it imports nothing else of the target. Start
reading at `choose_blocks.py`; `architecture.py` describes the GPUs.
"""
