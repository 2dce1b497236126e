"""Steps that copy values between memory spaces; start at `step.py`."""
