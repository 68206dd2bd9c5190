"""Figures: one function each, drawn from result tables only."""
