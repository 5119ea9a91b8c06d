/**
 * The archive in a PostgreSQL database.
 *
 * <p>A {@code PostgresPartition} collects a {@code PostgresRoll} of encoded rows, and stores it in one transaction with
 * the position, by COPY. {@code Catalog} manages the tables, one per event type, {@code TimePartitions} their
 * partitions, and {@code Views} the public views.
 */
package io.lifeline.jobs.archive.postgres;
