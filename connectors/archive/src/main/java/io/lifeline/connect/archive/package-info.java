/**
 * Archives batches from Kafka with Kafka Connect.
 *
 * <p>{@link io.lifeline.connect.archive.ArchiveSink} validates the configuration, {@code ArchiveSinkTask} is the
 * consumer loop, {@code HeldPartitions} tracks the task's partitions and positions, {@code Rejections} reports invalid
 * batches to Connect.
 */
package io.lifeline.connect.archive;
