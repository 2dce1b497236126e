"""Ops on images [batch, channels, spatial...]: convolution, pooling, resampling, regions.

Passes, targets and frontends reach the ops as `tri.Conv`, and import the arithmetic of windows and
of interpolation from here. `window` and `conv` are where to start reading.
"""
