"""Loops: steps that a run does again and again.

Imported when a package has steps of kind `loop`; it imports the rest of the runtime. Start at
`step.py`.
"""
