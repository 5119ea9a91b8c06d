package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.ArchiveWriteException;
import io.lifeline.jobs.archive.LateBatch;
import io.lifeline.jobs.archive.PartitionWriter;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.SequenceSet;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Collects the events of one partition as columns, and publishes them as a {@link Manifest}. */
final class ParquetPartition extends PartitionWriter {
  private final int partition;
  private final ParquetOptions options;
  private final ArchiveDirectory directory;
  private final DuckTables duck;
  private final Publication publication;
  private final WriterLock lock;
  private final ArchivePlace place;
  private Roll roll = new Roll();
  private boolean needsReopening;

  /** Takes the partition, finishes or removes what a crashed writer left, and finds the end of the archive. */
  ParquetPartition(int partition, ParquetOptions options, ArchiveDirectory directory, DuckTables duck,
      ArchiveFeed feed, Consumer<PublicationStep> progress) throws IOException {
    super(partition, options.roll(), feed);
    this.partition = partition;
    this.options = options;
    this.directory = directory;
    this.duck = duck;
    this.lock = directory.lock("partition-" + partition, "partition " + partition);
    try {
      this.place = new ArchivePlace(directory);
      this.publication = new Publication(directory, place, progress);
      recover();
      place.check();
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  private void recover() throws IOException {
    for (Map.Entry<String, Manifest> entry : Manifests.readByName(directory, partition).entrySet()) {
      Manifest manifest = entry.getValue();
      publication.rollForward(manifest.files());
      Manifests.forEachRoute(directory, entry.getKey(), this::remember);
      startAt(manifest.to(), manifest.source(), manifest.lastMessage());
    }
    checkRefusal(directory.refusal(partition));
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
    place.check();
    String name = ArchiveDirectory.manifestName(partition, from());
    String prefix = String.format(Locale.ROOT, "%d-%020d-%s", partition, from(),
        UUID.randomUUID().toString().substring(0, 8));
    DataFiles files = new DataFiles(directory, duck, prefix);
    new RollFiles(duck, files).write(roll, options.rareRows());
    Manifest manifest = new Manifest(Manifest.VERSION, partition, from(), to(), Instant.now().toString(),
        1, files.entries(), roll.typeEntries(), duplicates(), rejected(), List.of(), List.of(), source(),
        lastMessage());
    try {
      publication.publish(name, manifest, roll.routeEntries(), files.entries());
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
  protected void lookUp(List<LateBatch> batches) throws IOException {
    List<String> files = batchesFiles(batches);
    if (files.isEmpty()) {
      return;
    }
    String wanted = IntStream.range(0, batches.size()).mapToObj(i -> "(" + i + ", "
            + Sql.literal(batches.get(i).route().incarnation().toString()) + ", " + batches.get(i).route().route()
            + ", " + Long.toUnsignedString(batches.get(i).sequence()) + "::UBIGINT)")
        .collect(Collectors.joining(", ", "(VALUES ", ") w(i, incarnation, route, sequence)"));
    try {
      duck.forEach("SELECT w.i, b.crc FROM (" + BatchRows.read(files) + ") b JOIN " + wanted + " ON b.incarnation ="
          + " w.incarnation AND b.route = w.route AND b.sequence = w.sequence", row -> {
            long crc = row.getLong(2);
            Long known = row.wasNull() ? null : (Long) crc;
            batches.get(row.getInt(1)).found(known);
          });
    } catch (SQLException e) {
      throw new ArchiveWriteException("the batches of the archive " + directory.root() + " cannot be read: "
          + DataFiles.firstLine(e) + ". Nothing was published: repair the disk or restore the file from a backup, and"
          + " the same batches will be read again ('lifeline-jobs verify' looks at all files)", e);
    }
  }

  /**
   * Returns the files that may contain one of these batches, by the manifests' routes: of thousands of rolls, mostly
   * one.
   */
  private List<String> batchesFiles(List<LateBatch> batches) throws IOException {
    Map<RouteKey, SequenceSet> wanted = new HashMap<>();
    batches.forEach(late -> wanted.computeIfAbsent(late.route(), key -> new SequenceSet()).add(late.sequence()));
    List<String> files = new ArrayList<>();
    for (Map.Entry<String, Manifest> entry : Manifests.readByName(directory, partition).entrySet()) {
      boolean[] holdsAny = new boolean[1];
      Manifests.forEachRoute(directory, entry.getKey(),
          route -> holdsAny[0] |= route.holdsAny(wanted.get(route.key())));
      if (holdsAny[0]) {
        for (Manifest.FileEntry file : entry.getValue().files()) {
          if (file.kind() == Manifest.Kind.BATCHES) {
            files.add(directory.locate(file.name()).toString());
          }
        }
      }
    }
    return files;
  }

  @Override
  protected void storeRefusal(String why) throws IOException {
    place.check();
    directory.refuse(partition, why);
  }

  @Override
  protected String place() {
    return directory.root().toString();
  }

  @Override
  protected void close() throws IOException {
    lock.close();
  }
}
