"""Recurrent layers: LSTM, GRU, plain cells, and stacks of layers.

Passes, targets and frontends reach the ops as `tri.Lstm`. `recurrence` has the loop over time
steps, `rnn` the cells.
"""
