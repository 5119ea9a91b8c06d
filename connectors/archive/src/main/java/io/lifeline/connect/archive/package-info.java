/**
 * Batches from Kafka into an archive, by Kafka Connect.
 *
 * <p>{@link io.lifeline.connect.archive.ArchiveSink} checks the configuration, {@code ArchiveSinkTask} is the
 * consumer loop that every archive wants, {@code HeldPartitions} knows which partitions are this task's and where each
 * goes on, {@code Rejections} hands what is no legal batch to Connect.
 */
package io.lifeline.connect.archive;
