"""Rules for matrices: factors, equations, functions, spectra. Start at `linear_algebra.py`."""
