"""A row of the engines' table: what is measured, what it is compared with, what it is held to, and what came out."""

from dataclasses import dataclass, field
from datetime import datetime, timezone
from statistics import median

from ..limit import judged, set_up_doubt, spread, verdict


@dataclass(frozen=True)
class Case:
    """A row before it is measured."""

    name: str
    what: str
    unit: str = "events/s"
    limits: tuple = ()  # of "per_s", "ratio" (to the first baseline), "ratio:BASELINE", or one of the row's details
    any_suffices: bool = False  # of the limits; otherwise all have to be met
    timed: str = ""  # what happens between the start and the end of the measurement


@dataclass
class Row:
    case: Case
    values: list  # per second, one per repetition
    baselines: dict = field(default_factory=dict)  # name -> what it made per second in the same repetitions
    # What is compared where that is not the rate itself, such as the rate per second of processor time; of the baselines
    # the same stands in `baselines` then.
    compared: list | None = None
    compared_is: str = "per_s"
    details: dict = field(default_factory=dict)
    set_up_share: float = 0.0  # of the measured time, such as that of the compiler
    noise: float = 0.0  # the share of the processors that others took meanwhile
    commit: str = ""
    measured: str = field(default_factory=lambda: datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"))

    @property
    def median(self):
        return median(self.values)

    def ratios(self, baseline=None):
        """One per repetition: ours to what the baseline made in the same one."""
        theirs = self.baselines[baseline or next(iter(self.baselines))]
        ours = self.compared or self.values
        if len(ours) != len(theirs):
            theirs = [median(theirs)] * len(ours)
        return [our / their for our, their in zip(ours, theirs)]

    def ratio(self, baseline=None):
        return median(self.ratios(baseline)) if self.baselines else None

    def figures(self, of):
        """One per repetition. Of details only their median is known."""
        if of == "per_s":
            return self.values
        if of == "ratio" or of.startswith("ratio:"):
            return self.ratios(of.partition(":")[2])
        return [self.details[of]] * len(self.values)

    def figure(self, of):
        return median(self.figures(of))

    @property
    def doubt(self):
        """Why there is no verdict."""
        if not self.case.limits:
            return ""
        doubts = [set_up_doubt(self.set_up_share)] + [limit.doubt(self.figures(limit.of)) for limit in self.case.limits]
        return next(filter(None, doubts), "")

    @property
    def missed_by(self):
        """None without a limit or a verdict."""
        shares = [] if self.doubt else [limit.missed_by(self.figure(limit.of)) for limit in self.case.limits]
        return (min(shares) if self.case.any_suffices else max(shares)) if shares else None

    @property
    def verdict(self):
        return verdict(self.missed_by, self.doubt)

    def document(self):
        """As it stands in jobs.json."""
        first = next(iter(self.baselines), None)
        row = {"name": self.case.name, "what": self.case.what, "unit": self.case.unit,
               "per_s_median": rounded(self.median), "per_s_min": rounded(min(self.values)),
               "per_s_max": rounded(max(self.values)), "spread": round(spread(self.values), 3),
               "set_up_share": round(self.set_up_share, 3), "timed": self.case.timed, "baseline": first,
               "ratio": round(self.ratio(), 3) if first else None, "ratio_of": self.compared_is,
               "baselines": [{"name": name, f"{self.compared_is}_median": rounded(median(values)),
                              "ratio": round(self.ratio(name), 3)} for name, values in self.baselines.items()]}
        if self.case.limits:
            row |= {"limits": [{"of": limit.of, "at_most" if limit.at_most else "at_least": limit.bound,
                                "measured": rounded(self.figure(limit.of))} for limit in self.case.limits],
                    "any_limit_suffices": self.case.any_suffices, **judged(self.missed_by, self.doubt)}
        return row | {"repetitions": len(self.values), "measured": self.measured, "commit": self.commit,
                      "share_of_cpu_taken_by_others": self.noise, "details": self.details}


def rounded(value):
    return round(value) if abs(value) >= 1000 else round(value, 3)
