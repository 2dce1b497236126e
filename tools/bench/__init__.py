"""Measure compiled models beside other runtimes, and their kernels beside the machine's limits.

The command `trivium bench` imports it. Start reading at `measurement.py`, then `comparison.py`.
"""
