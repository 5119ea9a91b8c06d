-- Summaries of each second and series, by event time. Rows may come 23 hours late: the series of one stream do not
-- advance alike, least of all while history is read.

SET 'auto.offset.reset' = 'earliest';

CREATE TABLE per_second WITH (KAFKA_TOPIC = 'lifeline.ksql.per_second') AS
  SELECT
    series,
    COUNT(*) AS events,
    MIN(value) AS least,
    MAX(value) AS greatest,
    SUM(value) AS total,
    AVG(value) AS mean,
    STDDEV_SAMPLE(value) AS deviation,
    LIFELINE_QUANTILE(value, 0.5) AS p50,
    LIFELINE_QUANTILE(value, 0.99) AS p99
  FROM readings
  WINDOW TUMBLING (SIZE 1 SECOND, RETENTION 1 DAY, GRACE PERIOD 23 HOURS)
  GROUP BY series
  EMIT CHANGES;
