-- What the generator-fleet study used of R-GMA. Its primary producers are the emitters, its continuous query is
-- SELECT ... FROM generators ... EMIT CHANGES, which needs no statement here. The study sent messages of its own, which, as the
-- program fleet emits them, are the stream generator_readings.

SET 'auto.offset.reset' = 'earliest';

-- Latest query: the last row of each generator.
CREATE TABLE generators_latest WITH (KAFKA_TOPIC = 'lifeline.ksql.generators_latest') AS
  SELECT
    generator,
    LATEST_BY_OFFSET(host) AS host,
    LATEST_BY_OFFSET(ts) AS ts,
    LATEST_BY_OFFSET(ts_ns) AS ts_ns,
    LATEST_BY_OFFSET(sequence_) AS message,
    LATEST_BY_OFFSET(rtt) AS rtt
  FROM generators
  GROUP BY generator
  EMIT CHANGES;

-- History query: what each generator sent in each second of the last ten minutes. Windows are kept for longer, by the clock
-- that is furthest ahead: by the grace that covers decode.skew.
CREATE TABLE generators_history WITH (KAFKA_TOPIC = 'lifeline.ksql.generators_history') AS
  SELECT
    generator,
    COUNT(*) AS messages,
    COLLECT_LIST(ts) AS ts,
    COLLECT_LIST(rtt) AS rtt
  FROM generators
  WINDOW TUMBLING (SIZE 1 SECOND, RETENTION 55 MINUTES, GRACE PERIOD 45 MINUTES)
  GROUP BY generator
  EMIT CHANGES;

-- Secondary producer: publishes again what all primary ones sent, by generator, and keeps it for a day.
CREATE STREAM generators_secondary WITH (
  KAFKA_TOPIC = 'lifeline.ksql.generators_secondary',
  RETENTION_MS = 86400000
) AS
  SELECT generator, incarnation, host, ts, ts_ns, sequence_ AS message, rtt, prt, pt, srt, nbytes
  FROM generators
  PARTITION BY generator
  EMIT CHANGES;

-- What the study measured: round-trip times and their parts, over all generators of a host.
CREATE TABLE generators_rtt WITH (KAFKA_TOPIC = 'lifeline.ksql.generators_rtt') AS
  SELECT
    host,
    COUNT(*) AS messages,
    AVG(rtt) AS mean_ns,
    STDDEV_SAMPLE(CAST(rtt AS DOUBLE)) AS deviation_ns,
    LIFELINE_QUANTILE(CAST(rtt AS DOUBLE), 0.95) AS p95_ns,
    LIFELINE_QUANTILE(CAST(rtt AS DOUBLE), 0.99) AS p99_ns,
    MAX(rtt) AS worst_ns,
    AVG(prt) AS prt_ns,
    AVG(pt) AS pt_ns,
    AVG(srt) AS srt_ns
  FROM generators
  WINDOW TUMBLING (SIZE 10 SECONDS, RETENTION 1 DAY, GRACE PERIOD 23 HOURS)
  GROUP BY host
  EMIT CHANGES;

-- The same two queries of the readings of the fleet.
CREATE TABLE generator_readings_latest WITH (KAFKA_TOPIC = 'lifeline.ksql.generator_readings_latest') AS
  SELECT
    generator,
    LATEST_BY_OFFSET(host) AS host,
    LATEST_BY_OFFSET(ts) AS ts,
    LATEST_BY_OFFSET(sequence_) AS message,
    LATEST_BY_OFFSET(power) AS power,
    LATEST_BY_OFFSET(state) AS state
  FROM generator_readings
  GROUP BY generator
  EMIT CHANGES;

CREATE TABLE generator_readings_history WITH (KAFKA_TOPIC = 'lifeline.ksql.generator_readings_history') AS
  SELECT
    generator,
    COUNT(*) AS messages,
    COLLECT_LIST(ts) AS ts,
    COLLECT_LIST(power) AS power
  FROM generator_readings
  WINDOW TUMBLING (SIZE 1 SECOND, RETENTION 55 MINUTES, GRACE PERIOD 45 MINUTES)
  GROUP BY generator
  EMIT CHANGES;
