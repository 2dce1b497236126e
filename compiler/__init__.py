"""The driver from a model to a session, with frontends, exporters and formats of models.

Tools and `trivium` itself import it; it imports all that is below. Start reading at `driver.py`;
`stages.py` lists the passes, `assemble.py` makes the package.
"""
