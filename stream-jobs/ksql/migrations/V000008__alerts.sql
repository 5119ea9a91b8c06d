-- Threshold alerts: operations that took longer than their kind may. A limit is a row, and may change while all runs.
-- It holds from its ROWTIME on: 0, or operations from before the scripts would have none.

SET 'auto.offset.reset' = 'earliest';

CREATE TABLE limits (
  name VARCHAR PRIMARY KEY,
  max_ms DOUBLE
) WITH (
  KAFKA_TOPIC = 'lifeline.ksql.limits',
  PARTITIONS = 1,
  VALUE_FORMAT = 'JSON'
);

INSERT INTO limits (ROWTIME, name, max_ms) VALUES (0, 'disk.read', 100.0);
INSERT INTO limits (ROWTIME, name, max_ms) VALUES (0, 'disk.write', 100.0);
INSERT INTO limits (ROWTIME, name, max_ms) VALUES (0, 'net.send', 500.0);
INSERT INTO limits (ROWTIME, name, max_ms) VALUES (0, 'net.receive', 500.0);

CREATE STREAM slow_alerts WITH (KAFKA_TOPIC = 'lifeline.ksql.slow_alerts') AS
  SELECT
    o.name AS name,
    o.operation AS operation,
    o.host AS host,
    o.program AS program,
    o.ended AS ended,
    o.ms AS ms,
    l.max_ms AS max_ms
  FROM operations o
  JOIN limits l ON o.name = l.name
  WHERE o.ms > l.max_ms
  EMIT CHANGES;

-- Kinds of operations with three alerts or more in ten seconds.
CREATE TABLE alert_bursts WITH (KAFKA_TOPIC = 'lifeline.ksql.alert_bursts') AS
  SELECT
    name,
    COUNT(*) AS alerts,
    MAX(ms) AS worst_ms,
    COLLECT_SET(host) AS hosts
  FROM slow_alerts
  WINDOW TUMBLING (SIZE 10 SECONDS, RETENTION 1 DAY, GRACE PERIOD 23 HOURS)
  GROUP BY name
  HAVING COUNT(*) >= 3
  EMIT CHANGES;
