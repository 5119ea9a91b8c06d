"""What a row is held to, and whether its repetitions can tell that it is met."""

from dataclasses import dataclass
from statistics import median

REPETITIONS, SPREAD = 3, 0.25


@dataclass(frozen=True)
class Limit:
    """So much of one of the row's figures: `of` is its name."""

    of: str
    bound: float
    at_most: bool

    def met_by(self, measured):
        return measured <= self.bound if self.at_most else measured >= self.bound

    def missed_by(self, measured):
        """The share by which the bound is missed; 0 when it is met."""
        if self.met_by(measured):
            return 0.0
        return measured / self.bound - 1 if self.at_most else self.bound / measured - 1

    @staticmethod
    def too_few(values):
        """Why so few values allow no verdict; empty if they are enough."""
        return f"{len(values)} of {REPETITIONS} repetitions" if len(values) < REPETITIONS else ""

    def doubt(self, values):
        """Why these values, one per repetition, allow no verdict, and what would; empty if they allow one."""
        if few := self.too_few(values):
            return few
        spread = (max(values) - min(values)) / abs(median(values) or 1)
        if spread > SPREAD and len({self.met_by(value) for value in values}) > 1:
            return f"spread {spread:.0%}: repeat it on a quiet machine"
        return ""

    def doubt_of(self, low, high):
        """Why this interval of a median allows no verdict."""
        return "" if self.met_by(low) == self.met_by(high) else "the interval contains the limit: repeat it on a quiet machine"


def at_most(of, bound):
    return Limit(of, bound, True)


def at_least(of, bound):
    return Limit(of, bound, False)


def verdict(missed_by, doubt):
    if doubt:
        return f"unjudged: {doubt}"
    if missed_by is None:
        return ""
    return f"missed by {missed_by:.0%}" if missed_by else "met"


def judged(missed_by, doubt):
    """The verdict, as it stands in documents."""
    return {"unjudged": doubt} if doubt else {"met": not missed_by, "missed_by": round(missed_by, 3)}


def verdict_of(row):
    """Of a document's row."""
    return verdict(row.get("missed_by"), row.get("unjudged"))
