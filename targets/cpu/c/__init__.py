"""C source of kernels, and of the programs that call them: another form of the target's code.

Input is the same kernel IR that `emit/` compiles to objects. Imported by `emit/form.py`. Start
reading at `form.py`, then `print_kernel.py` and `printer.py`; `helpers.py` defines what the
printed code calls.
"""
