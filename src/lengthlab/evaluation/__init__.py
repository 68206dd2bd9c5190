"""Evaluation: exact match for each digit length, and decoding."""
