"""What limits a transfer: by the set-up, by the rule of the paper, and by the job `bottleneck`."""

import math
from statistics import mean, variance

NEAR = 0.8  # a component that is at most this much faster than the slowest is not told from it: both are right
SIGNIFICANCE = 0.05


def truth(capacities):
    """Components that limit, by what each can carry: the slowest, and those that are too near to it."""
    slowest = min(capacities.values())
    return sorted(name for name, capacity in capacities.items() if slowest >= NEAR * capacity)


def less(first, second):
    """One-sided Welch test: how likely so small a mean of the first is, if it were not smaller. By the normal distribution, which is
    near enough for the dozens of samples here."""
    deviation = math.sqrt(variance(first) / len(first) + variance(second) / len(second))
    if deviation == 0:
        return 0.0 if mean(first) < mean(second) else 1.0
    return 0.5 * math.erfc((mean(second) - mean(first)) / deviation / math.sqrt(2))


def papers_rule(rates):
    """papers/003, IV.C: the lowest mean of nbytes / dur, if t-tests tell it from all others; else none. Rates by component are the
    means of each second."""
    known = {component: values for component, values in rates.items() if len(values) >= 2}
    if len(known) < 2:
        return "none"
    lowest = min(known, key=lambda component: mean(known[component]))
    alike = [other for other in known if other != lowest and less(known[lowest], known[other]) >= SIGNIFICANCE]
    return "none" if alike else lowest


def ours(alerts):
    """The component of the alert that is raised, with the chance of error and when that was decided; none without one."""
    raised = [alert for alert in alerts if alert["state"] == "on"]
    if not raised:
        return {"answer": "none"}
    newest = max(raised, key=lambda alert: alert["at_ns"])
    return {"answer": newest["subject"], "reason": newest["reason"], "chance": newest["chance"], "at_ns": newest["at_ns"]}
