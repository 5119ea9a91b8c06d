/**
 * The archive in a PostgreSQL database.
 *
 * <p>A {@code PostgresPartition} collects a {@code PostgresRoll} of rows that are encoded already, and stores it in one
 * transaction: COPY into the tables, then the position. {@code Catalog} knows the tables, of which there is one per
 * event type, {@code TimePartitions} their partitions, {@code Views} what people see of them.
 */
package io.lifeline.jobs.archive.postgres;
