"""The samples of each component and second, from the archive: what papers/003 plots in Figures 3 to 5."""

import json

from ..processes import ROOT, run

COMPONENTS = {"disk-read": "disk.read", "network": "net.receive", "disk-write": "disk.write"}

# A pair of events per operation. The sender's disk is in another process than the receiver's, so pairs are by incarnation.
PAIRS = """
SELECT '{component}' AS component, epoch(date_trunc('second', e.ts))::BIGINT AS second, avg(e.nbytes / secs) AS rate,
  stddev_samp(e.nbytes / secs) AS deviation, count(*) AS operations, sum(e.nbytes) AS bytes
FROM (SELECT e.ts, e.nbytes, greatest(epoch_ns(e.ts) - epoch_ns(s.ts), 1) / 1e9 AS secs
      FROM "{operation}.start" s JOIN "{operation}.end" e USING (incarnation, id)
      WHERE e.nbytes > 0 AND epoch_ns(e.ts) BETWEEN {begin} AND {end}) e
GROUP BY ALL"""
# Or a caliper's summary of each second: its rate is nbytes / dur of each operation.
SUMMARIES = """
SELECT '{component}' AS component, epoch(date_trunc('second', ts))::BIGINT AS second, sum("sum") / sum("count") AS rate,
  sqrt(avg(variance)) AS deviation, sum("count") AS operations, NULL AS bytes
FROM "lifeline.summary" WHERE "type" = '{operation}' AND field = 'rate' AND "count" > 0
  AND epoch_ns(ts) BETWEEN {begin} AND {end} GROUP BY ALL"""


def query(archive, sql):
    lines = run(ROOT / "scripts/lifeline-jobs", "sql", "--archive", archive, "--json", sql).splitlines()
    return [json.loads(line) for line in lines]


def series(archive, begin, end, calipers):
    """Component -> a row per second, in order."""
    template = SUMMARIES if calipers else PAIRS
    union = " UNION ALL ".join(template.format(component=component, operation=operation, begin=begin, end=end)
                               for component, operation in COMPONENTS.items())
    rows = query(archive, union + " ORDER BY second")
    return {component: [row for row in rows if row["component"] == component] for component in COMPONENTS}
