"""A row of the emitter's table: what is measured, what it may cost at most, and what came out."""

from dataclasses import dataclass, field
from datetime import datetime, timezone
from statistics import median

from ..limit import Limit, judged, verdict


@dataclass(frozen=True)
class Case:
    """A row before it is measured."""

    name: str
    what: str
    unit: str = "ns"
    limit: Limit | None = None
    rival: bool = False
    exact: bool = False  # the same in each run: one tells all


@dataclass
class Row:
    case: Case
    values: list  # one per repetition
    floors: list = field(default_factory=list)  # likewise; empty when there is no floor
    lost: int = 0  # events
    noise: dict = field(default_factory=dict)
    details: dict = field(default_factory=dict)
    measured: str = field(default_factory=lambda: datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"))

    @property
    def median(self):
        return median(self.values)

    @property
    def least(self):
        return min(self.values)

    @property
    def floor(self):
        return median(self.floors) if self.floors else None

    @property
    def ratio(self):
        return self.median / self.floor if self.floors else None

    @property
    def limited(self):
        """The figure that the limit is about."""
        return self.ratio if self.case.limit.of == "ratio" else self.median

    @property
    def doubt(self):
        """Why there is no verdict."""
        if self.case.limit is None or self.case.exact:
            return ""
        ratios = self.case.limit.of == "ratio"
        return self.case.limit.doubt([value / self.floor for value in self.values] if ratios else self.values)

    @property
    def missed_by(self):
        return self.case.limit.missed_by(self.limited) if self.case.limit and not self.doubt else None

    @property
    def verdict(self):
        return verdict(self.missed_by, self.doubt)

    def document(self):
        """The row as in emitter.json."""
        kind = "ns" if self.case.unit == "ns" else "value"
        row = {"name": self.case.name, "what": self.case.what, "unit": self.case.unit,
               f"{kind}_median": round(self.median, 3), f"{kind}_min": round(self.least, 3),
               "floor_ns": round(self.floor, 3) if self.floors else None,
               "ratio": round(self.ratio, 3) if self.floors else None, "lost": self.lost}
        if self.case.limit:
            limit = self.case.limit
            row |= {"at_most" if limit.at_most else "at_least": limit.bound, "limit_of": limit.of,
                    **judged(self.missed_by, self.doubt)}
        return row | {"rival": self.case.rival, "repetitions": len(self.values), "measured": self.measured,
                      "noise": self.noise, "details": self.details}


def merged(case, rows):
    """The same row, measured several times."""
    noise = {key: round(max(row.noise.get(key, 0) for row in rows), 3) for key in ("foreign", "stolen", "waited")}
    noise["disturbed"] = sum(row.noise.get("disturbed", 0) for row in rows)
    details = {key: middle([row.details[key] for row in rows]) for key in rows[0].details}
    return Row(case, [value for row in rows for value in row.values], [floor for row in rows for floor in row.floors],
               sum(row.lost for row in rows), noise, details)


def middle(values):
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    return round(median(values), 3) if numbers else values[0]
