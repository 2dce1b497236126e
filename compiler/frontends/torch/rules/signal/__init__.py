"""Rules for complex numbers, Fourier transforms and spectrograms.

`rules/__init__.py` imports the modules. Start with `complex.py`.
"""
