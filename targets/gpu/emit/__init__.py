"""From kernels of the `tile` dialect to the files of a package, by way of Triton source.

The target and the command line import this package; it imports `schedule` and `kernels`. Start
reading at `compile_kernels.py`, which fits, prints and compiles each kernel.
"""
