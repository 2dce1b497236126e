"""Values that outlive a run: which outputs become which inputs of the next run.

Imported by frontends, passes and targets. Start reading at `carried.py`.
"""
