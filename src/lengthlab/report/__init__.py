"""The report: one self-contained page from the result tables.

    results/SCALE/*.csv -> draw.py (a figure for each experiment) -> page.py + page.html.jinja -> one HTML file

`tables.py` lists all seeds, how much was run, and what differs between settings.
"""
