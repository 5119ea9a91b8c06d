package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.PartitionWriter;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

/** Collects the events of one partition as columns, and publishes them as a {@link Manifest}. */
final class ParquetPartition extends PartitionWriter {
  private final int partition;
  private final ParquetOptions options;
  private final ArchiveDirectory directory;
  private final DuckTables duck;
  private final Publication publication;
  private final FileChannel lock;
  private Roll roll = new Roll();
  private boolean needsReopening;

  /** Takes the partition, finishes or clears away what a dead writer left, and finds the end of the archive. */
  ParquetPartition(int partition, ParquetOptions options, ArchiveDirectory directory, DuckTables duck,
      Consumer<Rejection> rejections, Consumer<PublicationStep> progress) throws IOException {
    super(options.roll(), rejections);
    this.partition = partition;
    this.options = options;
    this.directory = directory;
    this.duck = duck;
    this.publication = new Publication(directory, progress);
    this.lock = directory.lock("partition-" + partition, "partition " + partition);
    try {
      recover();
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  private void recover() throws IOException {
    for (Manifest manifest : Manifests.read(directory)) {
      if (manifest.partition() == partition) {
        publication.rollForward(manifest.files());
        manifest.routes().forEach(this::remember);
        startAt(manifest.to());
      }
    }
    for (String name : ArchiveDirectory.names(directory.data())) {
      if (name.startsWith(partition + "-") && name.endsWith(ArchiveDirectory.TEMPORARY)) {
        Files.deleteIfExists(directory.data().resolve(name));
      }
    }
  }

  @Override
  protected long collectedBytes() {
    return roll.bytes();
  }

  @Override
  protected void collect(BatchReader batch, ColumnarBatch events, RouteKey route, Position position) {
    roll.add(batch, events, route, position);
  }

  @Override
  protected void store() throws IOException {
    if (needsReopening) {
      throw new ArchiveException("an earlier failure left partition " + partition + " of the archive "
          + directory.root() + " published but unfinished: open it again");
    }
    String name = ArchiveDirectory.manifestName(partition, from());
    String prefix = "%d-%020d-%s".formatted(partition, from(), UUID.randomUUID().toString().substring(0, 8));
    DataFiles files = new DataFiles(directory, duck, prefix);
    new RollFiles(duck, files).write(roll, options.rareRows());
    Manifest manifest = new Manifest(Manifest.VERSION, partition, from(), to(), Instant.now().toString(),
        files.entries(), roll.typeEntries(), roll.routeEntries(), duplicates(), rejected(), List.of(), List.of());
    try {
      publication.publish(name, manifest);
    } catch (IOException | RuntimeException e) {
      if (Files.exists(directory.manifests().resolve(name))) {
        needsReopening = true;
      } else {
        files.remove();
      }
      throw e;
    }
    roll = new Roll();
    try {
      publication.rollForward(manifest.files());
    } catch (IOException e) {
      needsReopening = true;
      throw e;
    }
  }

  @Override
  protected void close() throws IOException {
    lock.close();
  }
}
