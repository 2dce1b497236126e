"""Measure packages on a GPU beside PyTorch: `python -m trivium.tools.bench.gpu`.

Nothing else imports it. Start reading at `__main__.py`.
"""
