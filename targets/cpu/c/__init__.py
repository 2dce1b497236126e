"""C source of kernels, and of the programs that call them: another form of the target's code.

Input is the same kernel IR that `emit/` compiles to objects. Imported by `emit/form.py`, and by
`compiler/c` for what the printed code calls: `helpers.py`. Start reading at `print_kernel.py`, then
`printer.py`.
"""
