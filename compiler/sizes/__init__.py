"""Free sizes of a model: their names, those that were observed, reports, and who refuses them.

Imported by the driver and its neighbours. Start reading at `report.py`.
"""
