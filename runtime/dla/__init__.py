"""Programs of accelerators: their part of a manifest, and their steps.

Imported when a package has steps of kind `dla`; it imports the rest of the runtime. Start at
`step.py`.
"""
