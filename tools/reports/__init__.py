"""The data of reports, and their text: each command prints one of the two.

Start reading at `json_report.py`, which writes the data of any of them.
"""
