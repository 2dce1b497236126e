"""Branches: a condition chooses which steps a run does.

Imported when a package has steps of kind `branch`; it imports the rest of the runtime. Start at
`step.py`.
"""
