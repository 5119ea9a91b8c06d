-- One number of every event in one stream, so that one query serves all types. A series is TYPE:FIELD.

SET 'auto.offset.reset' = 'earliest';

CREATE STREAM readings WITH (KAFKA_TOPIC = 'lifeline.ksql.readings') AS
  SELECT incarnation, 'disk.read.end:nbytes' AS series, host, program, ts, CAST(nbytes AS DOUBLE) AS value
  FROM disk_read_end
  EMIT CHANGES;

INSERT INTO readings
  SELECT incarnation, 'disk.write.end:nbytes' AS series, host, program, ts, CAST(nbytes AS DOUBLE) AS value
  FROM disk_write_end
  EMIT CHANGES;

INSERT INTO readings
  SELECT incarnation, 'net.send.end:nbytes' AS series, host, program, ts, CAST(nbytes AS DOUBLE) AS value
  FROM net_send_end
  EMIT CHANGES;

INSERT INTO readings
  SELECT incarnation, 'net.receive.end:nbytes' AS series, host, program, ts, CAST(nbytes AS DOUBLE) AS value
  FROM net_receive_end
  EMIT CHANGES;

INSERT INTO readings
  SELECT incarnation, name + ':ms' AS series, host, program, ended AS ts, ms AS value
  FROM operations
  PARTITION BY incarnation
  EMIT CHANGES;

INSERT INTO readings
  SELECT incarnation, 'generator.measurement:rtt' AS series, host, program, ts, CAST(rtt AS DOUBLE) AS value
  FROM generators
  EMIT CHANGES;
