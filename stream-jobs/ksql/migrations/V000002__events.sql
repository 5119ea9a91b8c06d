-- Decoded events, one stream for each type, as the job decode writes them.
-- The key is the emitter, and a row has the time of its event. Topics that are not there yet are made.

CREATE STREAM disk_read_start (
  incarnation VARCHAR KEY,
  ts VARCHAR,
  ts_ns BIGINT,
  type VARCHAR,
  host VARCHAR,
  program VARCHAR,
  pid BIGINT,
  thread BIGINT,
  id BIGINT,
  offset BIGINT
) WITH (
  KAFKA_TOPIC = 'lifeline.events.disk.read.start',
  PARTITIONS = 1,
  VALUE_FORMAT = 'JSON',
  TIMESTAMP = 'ts',
  TIMESTAMP_FORMAT = 'yyyy-MM-dd''T''HH:mm:ss.SSSSSSSSSX'
);

CREATE STREAM disk_read_end (
  incarnation VARCHAR KEY,
  ts VARCHAR,
  ts_ns BIGINT,
  type VARCHAR,
  host VARCHAR,
  program VARCHAR,
  pid BIGINT,
  thread BIGINT,
  id BIGINT,
  nbytes BIGINT
) WITH (
  KAFKA_TOPIC = 'lifeline.events.disk.read.end',
  PARTITIONS = 1,
  VALUE_FORMAT = 'JSON',
  TIMESTAMP = 'ts',
  TIMESTAMP_FORMAT = 'yyyy-MM-dd''T''HH:mm:ss.SSSSSSSSSX'
);

CREATE STREAM disk_write_start (
  incarnation VARCHAR KEY,
  ts VARCHAR,
  ts_ns BIGINT,
  type VARCHAR,
  host VARCHAR,
  program VARCHAR,
  pid BIGINT,
  thread BIGINT,
  id BIGINT,
  offset BIGINT
) WITH (
  KAFKA_TOPIC = 'lifeline.events.disk.write.start',
  PARTITIONS = 1,
  VALUE_FORMAT = 'JSON',
  TIMESTAMP = 'ts',
  TIMESTAMP_FORMAT = 'yyyy-MM-dd''T''HH:mm:ss.SSSSSSSSSX'
);

CREATE STREAM disk_write_end (
  incarnation VARCHAR KEY,
  ts VARCHAR,
  ts_ns BIGINT,
  type VARCHAR,
  host VARCHAR,
  program VARCHAR,
  pid BIGINT,
  thread BIGINT,
  id BIGINT,
  nbytes BIGINT
) WITH (
  KAFKA_TOPIC = 'lifeline.events.disk.write.end',
  PARTITIONS = 1,
  VALUE_FORMAT = 'JSON',
  TIMESTAMP = 'ts',
  TIMESTAMP_FORMAT = 'yyyy-MM-dd''T''HH:mm:ss.SSSSSSSSSX'
);

CREATE STREAM net_send_start (
  incarnation VARCHAR KEY,
  ts VARCHAR,
  ts_ns BIGINT,
  type VARCHAR,
  host VARCHAR,
  program VARCHAR,
  pid BIGINT,
  thread BIGINT,
  id BIGINT
) WITH (
  KAFKA_TOPIC = 'lifeline.events.net.send.start',
  PARTITIONS = 1,
  VALUE_FORMAT = 'JSON',
  TIMESTAMP = 'ts',
  TIMESTAMP_FORMAT = 'yyyy-MM-dd''T''HH:mm:ss.SSSSSSSSSX'
);

CREATE STREAM net_send_end (
  incarnation VARCHAR KEY,
  ts VARCHAR,
  ts_ns BIGINT,
  type VARCHAR,
  host VARCHAR,
  program VARCHAR,
  pid BIGINT,
  thread BIGINT,
  id BIGINT,
  nbytes BIGINT
) WITH (
  KAFKA_TOPIC = 'lifeline.events.net.send.end',
  PARTITIONS = 1,
  VALUE_FORMAT = 'JSON',
  TIMESTAMP = 'ts',
  TIMESTAMP_FORMAT = 'yyyy-MM-dd''T''HH:mm:ss.SSSSSSSSSX'
);

CREATE STREAM net_receive_start (
  incarnation VARCHAR KEY,
  ts VARCHAR,
  ts_ns BIGINT,
  type VARCHAR,
  host VARCHAR,
  program VARCHAR,
  pid BIGINT,
  thread BIGINT,
  id BIGINT
) WITH (
  KAFKA_TOPIC = 'lifeline.events.net.receive.start',
  PARTITIONS = 1,
  VALUE_FORMAT = 'JSON',
  TIMESTAMP = 'ts',
  TIMESTAMP_FORMAT = 'yyyy-MM-dd''T''HH:mm:ss.SSSSSSSSSX'
);

CREATE STREAM net_receive_end (
  incarnation VARCHAR KEY,
  ts VARCHAR,
  ts_ns BIGINT,
  type VARCHAR,
  host VARCHAR,
  program VARCHAR,
  pid BIGINT,
  thread BIGINT,
  id BIGINT,
  nbytes BIGINT
) WITH (
  KAFKA_TOPIC = 'lifeline.events.net.receive.end',
  PARTITIONS = 1,
  VALUE_FORMAT = 'JSON',
  TIMESTAMP = 'ts',
  TIMESTAMP_FORMAT = 'yyyy-MM-dd''T''HH:mm:ss.SSSSSSSSSX'
);

-- The table of generators of the generator-fleet study: a row for each message that came back. Times are nanoseconds.
CREATE STREAM generators (
  incarnation VARCHAR KEY,
  ts VARCHAR,
  ts_ns BIGINT,
  type VARCHAR,
  host VARCHAR,
  program VARCHAR,
  pid BIGINT,
  thread BIGINT,
  generator BIGINT,
  sequence_ BIGINT,
  rtt BIGINT,
  prt BIGINT,
  pt BIGINT,
  srt BIGINT,
  nbytes BIGINT
) WITH (
  KAFKA_TOPIC = 'lifeline.events.generator.measurement',
  PARTITIONS = 1,
  VALUE_FORMAT = 'JSON',
  TIMESTAMP = 'ts',
  TIMESTAMP_FORMAT = 'yyyy-MM-dd''T''HH:mm:ss.SSSSSSSSSX'
);

-- The message of the study, as the program fleet emits it: a row for each that was sent. Its field run is a reserved word of
-- ksqlDB, and left out.
CREATE STREAM generator_readings (
  incarnation VARCHAR KEY,
  ts VARCHAR,
  ts_ns BIGINT,
  type VARCHAR,
  host VARCHAR,
  program VARCHAR,
  pid BIGINT,
  thread BIGINT,
  generator BIGINT,
  sequence_ BIGINT,
  intended BIGINT,
  power DOUBLE,
  voltage DOUBLE,
  current DOUBLE,
  frequency DOUBLE,
  temperature DOUBLE,
  energy DOUBLE,
  longitude DOUBLE,
  latitude DOUBLE,
  site VARCHAR,
  model VARCHAR,
  owner VARCHAR,
  state VARCHAR
) WITH (
  KAFKA_TOPIC = 'lifeline.events.generator.reading',
  PARTITIONS = 1,
  VALUE_FORMAT = 'JSON',
  TIMESTAMP = 'ts',
  TIMESTAMP_FORMAT = 'yyyy-MM-dd''T''HH:mm:ss.SSSSSSSSSX'
);
