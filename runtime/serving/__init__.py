"""Serve requests of several threads by sessions that share a package.

Start reading at `session_pool.py`.
"""
