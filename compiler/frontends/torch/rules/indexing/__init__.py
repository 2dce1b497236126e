"""Rules for operators that read or write at indices, of one axis or several.

`rules/__init__.py` imports the modules. Start with `index.py`.
"""
