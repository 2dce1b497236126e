"""Ops on text, and tables whose keys may be text.

Start reading at `strings.py`.
"""
