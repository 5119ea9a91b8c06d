package io.lifeline.jobs.archive;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.Deduplicator;
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

/** Writes one partition: takes batches, absorbs repeats, and publishes what it holds as a {@link Manifest}. */
final class PartitionWriter implements AutoCloseable {
  private final int partition;
  private final ArchiveOptions options;
  private final ArchiveDirectory directory;
  private final DuckTables duck;
  private final Publication publication;
  private final Consumer<Rejection> rejections;
  private final FileChannel lock;
  private final Deduplicator deduplicator;
  private final BatchReader reader = new BatchReader();
  private final ColumnarBatch columns = new ColumnarBatch();
  private Roll roll;
  private long firstAppendMs;
  private boolean needsReopening;

  /** Takes the partition, finishes or clears away what a dead writer left, and finds the end of the archive. */
  PartitionWriter(int partition, ArchiveOptions options, ArchiveDirectory directory, DuckTables duck,
      Consumer<Rejection> rejections, Consumer<PublicationStep> progress) throws IOException {
    this.partition = partition;
    this.options = options;
    this.directory = directory;
    this.duck = duck;
    this.rejections = rejections;
    this.publication = new Publication(directory, progress);
    this.deduplicator = new Deduplicator(new ForgetfulState(), options.remembered().toMillis());
    this.lock = directory.lock("partition-" + partition, "partition " + partition);
    try {
      recover();
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  private void recover() throws IOException {
    long end = 0;
    for (Manifest manifest : Manifests.read(directory)) {
      if (manifest.partition() == partition) {
        publication.rollForward(manifest.files());
        manifest.routes().forEach(this::remember);
        end = manifest.to();
      }
    }
    for (String name : ArchiveDirectory.names(directory.data())) {
      if (name.startsWith(partition + "-") && name.endsWith(ArchiveDirectory.TEMPORARY)) {
        Files.deleteIfExists(directory.data().resolve(name));
      }
    }
    roll = new Roll(end);
  }

  private void remember(RouteEntry route) {
    route.forEachRun((first, last) -> deduplicator.seen(route.key(), first, last, route.lastBrokerTimeMs()));
  }

  long nextOffset() {
    return roll.to;
  }

  /** Memory held, in bytes. */
  long bytes() {
    return roll.bytes();
  }

  void forgetSilentEmitters(long nowMs) {
    deduplicator.expire(nowMs);
  }

  boolean isDue(long nowMs) {
    return !roll.isEmpty() && nowMs - firstAppendMs >= options.rollInterval().toMillis();
  }

  Appended append(Position position, byte[] message) {
    if (position.offset() < roll.to) {
      return Appended.ALREADY_ARCHIVED;
    }
    if (roll.isEmpty()) {
      firstAppendMs = System.currentTimeMillis();
    }
    Appended result = take(position, message);
    roll.to = position.offset() + 1;
    return result;
  }

  private Appended take(Position position, byte[] message) {
    try {
      reader.read(message, 0, message.length);
    } catch (RejectedBatchException e) {
      return reject(Rejection.of(position, e));
    }
    RouteKey route = RouteKey.of(reader);
    return switch (deduplicator.check(route, reader.sequence(), reader.crc(), position.brokerTimeMs())) {
      case NEW -> {
        roll.add(reader, columns.fill(reader), route, position);
        yield Appended.ACCEPTED;
      }
      case DUPLICATE -> {
        roll.duplicates++;
        yield Appended.DUPLICATE;
      }
      case CONFLICT -> reject(identified(position, "conflict", "another batch came with the same sequence", route));
      case TOO_MANY_GAPS ->
          reject(identified(position, "too_many_gaps", "more sequences of its route are missing than are kept", route));
    };
  }

  private Rejection identified(Position position, String code, String message, RouteKey route) {
    return new Rejection(position, code, 32, message, route + "-" + Long.toUnsignedString(reader.sequence()));
  }

  private Appended reject(Rejection rejection) {
    roll.rejected++;
    rejections.accept(rejection);
    return Appended.REJECTED;
  }

  /** Publishes what is held. After a failure before the manifest stood, what is held is still held. */
  void roll() throws IOException {
    if (needsReopening) {
      throw new ArchiveException("an earlier failure left partition " + partition + " of the archive "
          + directory.root() + " published but unfinished: open it again");
    }
    if (roll.isEmpty()) {
      return;
    }
    String name = ArchiveDirectory.manifestName(partition, roll.from);
    String prefix = "%d-%020d-%s".formatted(partition, roll.from, UUID.randomUUID().toString().substring(0, 8));
    DataFiles files = new DataFiles(directory, duck, prefix);
    new RollFiles(duck, files).write(roll, options.rareRows());
    Manifest manifest = new Manifest(Manifest.VERSION, partition, roll.from, roll.to, Instant.now().toString(),
        files.entries(), roll.typeEntries(), roll.routeEntries(), roll.duplicates, roll.rejected, List.of(), List.of());
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
    roll = new Roll(roll.to);
    try {
      publication.rollForward(manifest.files());
    } catch (IOException e) {
      needsReopening = true;
      throw e;
    }
  }

  /** Lets the partition go without publishing what is held. */
  @Override
  public void close() throws IOException {
    lock.close();
  }
}
