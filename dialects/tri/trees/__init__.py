"""Ops on decision trees. Imported by registration. Start reading at `tree_ensemble.py`."""
