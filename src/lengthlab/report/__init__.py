"""The report: one self-contained page from the result tables.

    results/SCALE/*.csv -> draw.py (a figure for each experiment) -> page.py + page.html.jinja -> one HTML file

`story.py` says in words what a figure shows, `tables.py` lists all seeds, `settings.py` what differs between settings.
"""
