-- The five slowest operations of each minute and kind, slowest first, with what else is known of them.

SET 'auto.offset.reset' = 'earliest';

CREATE TABLE slow_operations WITH (KAFKA_TOPIC = 'lifeline.ksql.slow_operations') AS
  SELECT
    name,
    TOPK(ms, operation, host, ended, 5) AS slowest,
    LIFELINE_QUANTILE(ms, 0.99) AS p99_ms,
    COUNT(*) AS operations
  FROM operations
  WINDOW TUMBLING (SIZE 1 MINUTE, RETENTION 1 DAY, GRACE PERIOD 23 HOURS)
  GROUP BY name
  EMIT CHANGES;
