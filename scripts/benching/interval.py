"""How well the median of several rounds is known."""

import random
from statistics import median


def interval(values):
    """Their median, and its 95 % interval by bootstrap."""
    generator = random.Random(1)
    medians = sorted(median(generator.choices(values, k=len(values))) for _ in range(2000))
    return median(values), medians[50], medians[1949]
