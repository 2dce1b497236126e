"""Lowerings of convolutions on plain, packed and blocked images, and the templates they share.

Imported by the registration of `lower/`, and by lowerings of integer products.
Start reading at `conv.py`, then `panel_conv.py` and `blocked.py`.
"""
