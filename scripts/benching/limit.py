"""What a row is held to, and whether its repetitions can tell that it is met."""

from dataclasses import dataclass
from statistics import median, quantiles

REPETITIONS, SPREAD, SET_UP = 3, 0.25, 0.1


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
        if spread(values) > SPREAD and len({self.met_by(value) for value in values}) > 1:
            return f"spread {spread(values):.0%}: rerun on an idle machine"
        return ""

    def doubt_of(self, low, high):
        """Why this interval of a median allows no verdict."""
        return "" if self.met_by(low) == self.met_by(high) else "the interval includes the limit: rerun on an idle machine"


def at_most(of, bound):
    return Limit(of, bound, True)


def at_least(of, bound):
    return Limit(of, bound, False)


def spread(values):
    """The range without the lowest and the highest tenth, as a share of the median; 0 of a single value."""
    if len(values) < 2:
        return 0.0
    tenths = quantiles(values, n=10, method="inclusive")
    return (tenths[-1] - tenths[0]) / abs(median(values) or 1)


def set_up_doubt(share):
    """Why a measurement allows no verdict if so much of its time was set-up; empty if it allows one."""
    return f"set-up {share:.0%} of the measured time: measure longer, without --quick" if share > SET_UP else ""


def verdict(missed_by, doubt):
    if doubt:
        return f"no verdict: {doubt}"
    if missed_by is None:
        return ""
    return f"missed by {missed_by:.0%}" if missed_by else "met"


def judged(missed_by, doubt):
    """The verdict, as it stands in documents."""
    return {"unjudged": doubt} if doubt else {"met": not missed_by, "missed_by": round(missed_by, 3)}


def verdict_of(row):
    """Of a document's row."""
    return verdict(row.get("missed_by"), row.get("unjudged"))
