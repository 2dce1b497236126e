"""Sizes that a package computes as numbers: a step reads them when it runs.

Imported when a package has steps of kind `find`; it imports the rest of the runtime. Start at
`step.py`.
"""
