"""Make the helpers of this folder importable in the folders below."""
