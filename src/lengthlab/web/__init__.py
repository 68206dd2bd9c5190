"""`lengthlab serve`: a page on this machine that shows models add, where they look, and what runs found.

    models (shipped and of runs) -> decoder (sums, digit by digit, batched) -> server (JSON, events) -> pages
    runs, claims                 -> evidence                               -> server

The pages are plain HTML, CSS and JavaScript modules in `pages/`; `shell.py` lists them and puts around
each what all have; `demo.py` puts one and a model into one file.
"""
