"""A row of the emitter's table: what is measured, what it may cost at most, and what came out."""

from dataclasses import dataclass, field
from datetime import datetime, timezone
from statistics import median


@dataclass(frozen=True)
class Limit:
    """At most, or at least, so much of one of the row's figures."""

    of: str  # "ratio" to the floor, or "value" in the row's unit
    bound: float
    at_least: bool = False

    def met_by(self, measured):
        return measured >= self.bound if self.at_least else measured <= self.bound

    def missed_by(self, measured):
        """The share by which the bound is missed; 0 when it is met."""
        if self.met_by(measured):
            return 0.0
        return self.bound / measured - 1 if self.at_least else measured / self.bound - 1


@dataclass(frozen=True)
class Case:
    """A row before it is measured."""

    name: str
    what: str
    unit: str = "ns"
    limit: Limit | None = None
    rival: bool = False


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
    def missed_by(self):
        return self.case.limit.missed_by(self.limited) if self.case.limit else None

    @property
    def verdict(self):
        if self.case.limit is None:
            return ""
        return f"missed by {self.missed_by:.0%}" if self.missed_by else "met"

    def document(self):
        """The row as in emitter.json."""
        kind = "ns" if self.case.unit == "ns" else "value"
        row = {"name": self.case.name, "what": self.case.what, "unit": self.case.unit,
               f"{kind}_median": round(self.median, 3), f"{kind}_min": round(self.least, 3),
               "floor_ns": round(self.floor, 3) if self.floors else None,
               "ratio": round(self.ratio, 3) if self.floors else None, "lost": self.lost}
        if self.case.limit:
            limit = self.case.limit
            row |= {"at_least" if limit.at_least else "at_most": limit.bound, "limit_of": limit.of,
                    "met": not self.missed_by, "missed_by": round(self.missed_by, 3)}
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
