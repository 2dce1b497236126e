"""Mathematical functions that neither the hardware nor the tile dialect has.

Imported by the table of kernels and by lowerings. Start reading at `approximation.py`.
"""
