"""Benchmarks: rivals measured in turns within one run, compared by ratios."""
