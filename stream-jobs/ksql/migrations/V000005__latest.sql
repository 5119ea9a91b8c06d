-- The latest value of each emitter and series. Asked for by its key, it answers at once.

SET 'auto.offset.reset' = 'earliest';

CREATE TABLE latest WITH (KAFKA_TOPIC = 'lifeline.ksql.latest', KEY_FORMAT = 'JSON') AS
  SELECT
    incarnation,
    series,
    LATEST_BY_OFFSET(host) AS host,
    LATEST_BY_OFFSET(program) AS program,
    LATEST_BY_OFFSET(ts) AS ts,
    LATEST_BY_OFFSET(value) AS value,
    COUNT(*) AS events
  FROM readings
  GROUP BY incarnation, series
  EMIT CHANGES;
