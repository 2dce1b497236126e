"""Recurrent layers: LSTM, GRU, plain cells, and stacks of layers.

Passes, targets and frontends reach the ops as `tri.Lstm`. Start reading at `recurrence`, the loop
over time steps; `rnn` has the cells.
"""
