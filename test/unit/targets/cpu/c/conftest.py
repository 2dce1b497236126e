"""Make the helpers of this folder importable."""
