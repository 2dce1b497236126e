"""Mathematical functions that the vector units lack.

Imported by the table of kernels and by lowerings. Start reading at `approximation.py`.
"""
