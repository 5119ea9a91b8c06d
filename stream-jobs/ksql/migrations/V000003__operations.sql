-- Operations: a start tied to its end by emitter and id, at most a minute apart. A row has the time of the end.
-- A clock ahead closes the windows of all emitters: the grace covers what decode.skew lets pass, and a quarter of an hour.

SET 'auto.offset.reset' = 'earliest';

CREATE STREAM operations WITH (KAFKA_TOPIC = 'lifeline.ksql.operations') AS
  SELECT
    ROWKEY AS operation,
    'disk.read' AS name,
    e.incarnation AS incarnation,
    e.host AS host,
    e.program AS program,
    e.id AS id,
    s.ts AS started,
    e.ts AS ended,
    (CAST(e.ts_ns - s.ts_ns AS DOUBLE) / 1E6) AS ms,
    e.nbytes AS nbytes
  FROM disk_read_end e
  JOIN disk_read_start s WITHIN 1 MINUTE GRACE PERIOD 45 MINUTES
    ON e.incarnation + '/' + CAST(e.id AS VARCHAR) = s.incarnation + '/' + CAST(s.id AS VARCHAR)
  EMIT CHANGES;

INSERT INTO operations
  SELECT
    ROWKEY AS operation,
    'disk.write' AS name,
    e.incarnation AS incarnation,
    e.host AS host,
    e.program AS program,
    e.id AS id,
    s.ts AS started,
    e.ts AS ended,
    (CAST(e.ts_ns - s.ts_ns AS DOUBLE) / 1E6) AS ms,
    e.nbytes AS nbytes
  FROM disk_write_end e
  JOIN disk_write_start s WITHIN 1 MINUTE GRACE PERIOD 45 MINUTES
    ON e.incarnation + '/' + CAST(e.id AS VARCHAR) = s.incarnation + '/' + CAST(s.id AS VARCHAR)
  EMIT CHANGES;

INSERT INTO operations
  SELECT
    ROWKEY AS operation,
    'net.send' AS name,
    e.incarnation AS incarnation,
    e.host AS host,
    e.program AS program,
    e.id AS id,
    s.ts AS started,
    e.ts AS ended,
    (CAST(e.ts_ns - s.ts_ns AS DOUBLE) / 1E6) AS ms,
    e.nbytes AS nbytes
  FROM net_send_end e
  JOIN net_send_start s WITHIN 1 MINUTE GRACE PERIOD 45 MINUTES
    ON e.incarnation + '/' + CAST(e.id AS VARCHAR) = s.incarnation + '/' + CAST(s.id AS VARCHAR)
  EMIT CHANGES;

INSERT INTO operations
  SELECT
    ROWKEY AS operation,
    'net.receive' AS name,
    e.incarnation AS incarnation,
    e.host AS host,
    e.program AS program,
    e.id AS id,
    s.ts AS started,
    e.ts AS ended,
    (CAST(e.ts_ns - s.ts_ns AS DOUBLE) / 1E6) AS ms,
    e.nbytes AS nbytes
  FROM net_receive_end e
  JOIN net_receive_start s WITHIN 1 MINUTE GRACE PERIOD 45 MINUTES
    ON e.incarnation + '/' + CAST(e.id AS VARCHAR) = s.incarnation + '/' + CAST(s.id AS VARCHAR)
  EMIT CHANGES;
