"""Serve requests from several threads: sessions that share a package. See `session_pool.py`."""
