-- Batches as they travel, for ad-hoc looks with LIFELINE_EVENTS and LIFELINE_BATCH.
-- 16 partitions are what lifeline-setup makes.

CREATE STREAM lifeline_batches (
  incarnation VARCHAR KEY,
  batch BYTES
) WITH (
  KAFKA_TOPIC = 'lifeline.batches',
  PARTITIONS = 16,
  FORMAT = 'KAFKA'
);
