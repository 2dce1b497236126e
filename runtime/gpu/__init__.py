"""Run kernels on a GPU: the driver of CUDA by way of ctypes, nothing else."""
