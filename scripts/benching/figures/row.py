"""A row of a table: one figure in each run, what it is held to, and what came out."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from statistics import median

from ..limit import REPETITIONS, Limit, judged, verdict
from ..jobs.row import rounded


@dataclass(frozen=True)
class Case:
    """A row before it is measured. Of a figure there are several if it was measured at several sizes."""

    figure: str
    what: str
    unit: str
    limit: Limit | None = None
    size: str = ""

    @property
    def name(self):
        return f"{self.figure}.{self.size}" if self.size else self.figure

    def of_size(self, size):
        return replace(self, size=size)


@dataclass
class Row:
    case: Case
    values: list  # one per run
    events: int  # that were measured
    details: dict = field(default_factory=dict)
    noise: float = 0.0  # the greatest share of the processors that others took during a run
    commit: str = ""
    measured: str = field(default_factory=lambda: datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"))

    @property
    def median(self):
        return median(self.values)

    @property
    def worst(self):
        """The run that the limit judges: a limit holds for each of them."""
        return max(self.values) if self.case.limit is None or self.case.limit.at_most else min(self.values)

    @property
    def doubt(self):
        """Why there is no verdict. The spread is no reason: the worst run is judged."""
        few = self.case.limit and len(self.values) < REPETITIONS
        return f"{len(self.values)} of {REPETITIONS} runs" if few else ""

    @property
    def missed_by(self):
        """None without a limit or a verdict."""
        return self.case.limit.missed_by(self.worst) if self.case.limit and not self.doubt else None

    @property
    def verdict(self):
        return verdict(self.missed_by, self.doubt)

    def document(self):
        """As it stands in the document."""
        row = {"name": self.case.name, "what": self.case.what, "unit": self.case.unit, "events": self.events,
               "values": [rounded(value) for value in self.values], "median": rounded(self.median),
               "min": rounded(min(self.values)), "max": rounded(max(self.values))}
        if self.case.limit:
            row |= {"at_most" if self.case.limit.at_most else "at_least": self.case.limit.bound, **judged(self.missed_by, self.doubt)}
        return row | {"runs": len(self.values), "measured": self.measured, "commit": self.commit,
                      "share_of_cpu_taken_by_others": self.noise, "details": self.details}
