"""Rules of operators on images: padding, resampling, detection.

Imported by the registration of `rules/` only. Start reading at `pad.py`, then `resize.py`.
"""
