"""Steps that numpy computes, for ops that no other target runs.

Imported when a package has steps of kind `host`; it imports the rest of the runtime. Start at
`step.py`.
"""
