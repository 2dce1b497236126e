"""Let schedulers do the steps of a run: in order, those of several targets at once, or a user's.

Start reading at `scheduler.py`. Nothing here is imported before a user asks for a scheduler.
"""
