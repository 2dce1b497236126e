"""Values that outlive a run: which outputs become which inputs of the next run."""
