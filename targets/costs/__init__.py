"""Costs: count the arithmetic of ops, and estimate how long they take.

Targets and placement import it. Start reading at `flops.py`, then `roofline.py`.
"""
