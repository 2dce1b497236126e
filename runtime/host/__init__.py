"""Steps that numpy computes, for what no other target runs; start at `step.py`."""
