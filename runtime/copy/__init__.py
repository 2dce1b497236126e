"""Steps that copy values between memory spaces.

Imported when a package has steps of kind `copy`; it imports the rest of the runtime. Start at
`step.py`.
"""
