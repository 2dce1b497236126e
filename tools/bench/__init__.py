"""Measure compiled models beside other runtimes, and their kernels beside the machine's limits."""
