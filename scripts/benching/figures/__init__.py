"""Rows of one figure in any unit: console and scale."""
