"""Sequences whose length, or whose tensors' shapes, a run decides: what they are as tensors.

`rules/control_flow/sequence.py` has the operators. Start reading at `joined_sequences.py`, for
tensors that differ in one size, then `ragged_sequences.py`; `*_ports.py` are inputs and outputs.
"""
