"""A row: by how much a way to emit changes a figure, in rounds that measure every way once."""

from statistics import median

from ..emitter.row import Row
from ..interval import interval


class Paired(Row):
    """Its values are differences to memcached unchanged in the same round. The interval of their median is judged."""

    @property
    def interval(self):
        return interval(self.values)[1:]

    @property
    def doubt(self):
        if self.case.limit is None:
            return ""
        return self.case.limit.too_few(self.values) or self.case.limit.doubt_of(*self.interval)

    def document(self):
        return super().document() | {"interval": [round(end, 3) for end in self.interval], "values": [round(value, 3) for value in self.values]}


# Of measurements in one round: with the events, and memcached unchanged.
FIGURES = {
    "cpu": lambda with_it, plain: with_it["cpu_ns"] - plain["cpu_ns"],
    "cpu.share": lambda with_it, plain: 100 * (with_it["cpu_ns"] / plain["cpu_ns"] - 1),
    "rate": lambda with_it, plain: 100 * (1 - with_it["per_s"] / plain["per_s"]),
}
MIDDLES = {"cpu_ns": 1, "per_s": 0, "busy": 3, "receiver_cpu_ns": 1, "bytes": 2}  # digits of what the details have the median of


def middles(measured):
    return {key: round(median(one[key] for one in measured), digits) for key, digits in MIDDLES.items()}


def paired(case, measured, plain):
    """From the measurements of a way and of memcached unchanged, one per round."""
    figure = FIGURES[case.name.partition(".")[2]]
    noise = {"foreign": round(median(one["others"] for one in measured + plain), 3)}
    return Paired(case, [figure(*pair) for pair in zip(measured, plain)], lost=sum(one["lost"] for one in measured), noise=noise,
                  details=middles(measured) | {f"plain_{key}": value for key, value in middles(plain).items()})
