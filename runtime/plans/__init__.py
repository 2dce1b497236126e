"""What a session does at some sizes: buffers, bound ports, steps, and what follows found sizes.

`session` uses it; it knows no kind of steps. Start reading at `plan_cache.py`.
"""
