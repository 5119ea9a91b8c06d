package io.lifeline.jobs.archive;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import io.lifeline.jobs.core.Position;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Small batches and archives for tests. */
public final class Archives {
  public static final EventType SERIAL =
      EventType.named("test.serial").field("serial", FieldType.U64).field("thread", FieldType.U32).build();

  private static final long EPOCH_NS = 1_790_000_000_000_000_000L;

  private Archives() {}

  /** Returns a batch of an emitter; ticks are nanoseconds. */
  public static BatchWriter batch(Incarnation incarnation, long sequence) {
    return new BatchWriter().incarnation(incarnation).sequence(sequence).host("host").program("program").pid(42)
        .calibration(0, 0, EPOCH_NS, 0, false);
  }

  /** Returns the {@code sequence}-th batch of an emitter that counts from 0, with {@code count} events per batch. */
  public static byte[] serials(Incarnation incarnation, long sequence, int count) {
    BatchWriter batch = batch(incarnation, sequence).counter(Counter.EMITTED, sequence * count);
    for (int i = 0; i < count; i++) {
      long serial = (sequence - 1) * count + i;
      batch.event(SERIAL, serial, serial, 1);
    }
    return batch.toByteArray();
  }

  /**
   * Returns valid batches designed to harm readers; those with the most types, which slow down later ones, come last.
   */
  public static List<Path> hostileBatches() throws Exception {
    try (Stream<Path> files = Files.list(Path.of("..", "..", "schemas", "vectors", "hostile"))) {
      return files.filter(file -> file.toString().endsWith(".llb"))
          .sorted(Comparator.comparing((Path file) -> file.toFile().length()).thenComparing(file -> file)).toList();
    }
  }

  public static Position at(long offset) {
    return new Position(0, offset, 1_790_000_000_000L);
  }

  public static ArchiveWriter open(Path directory) throws Exception {
    return new ParquetArchive(ParquetOptions.in(directory).withThreads(1)).open(rejection -> {
      throw new AssertionError(rejection.toString());
    });
  }

  /** Adds events to an archive, or begins one. */
  public interface Events {
    void add(Path directory) throws Exception;
  }

  /** Adds to an archive. One that begins so is written once, in the templates under that name, and copied. */
  public static void add(Path directory, Path templates, String name, Events events) throws Exception {
    Path template = templates.resolve(name);
    if (directory.toFile().list().length > 0) {
      events.add(directory);
      return;
    }
    if (!Files.exists(template)) {
      events.add(template);
    }
    try (Stream<Path> files = Files.walk(template)) {
      for (Path file : files.skip(1).toList()) {
        Files.copy(file, directory.resolve(template.relativize(file).toString()));
      }
    }
  }

  /** Returns the rows of a query, with cells joined by a blank. */
  public static List<String> query(Path directory, String sql) throws Exception {
    return query(directory, List.of(sql)).get(0);
  }

  /** Returns the rows of several queries. */
  public static List<List<String>> query(Path directory, List<String> queries) throws Exception {
    List<List<String>> answers = new ArrayList<>();
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      for (String sql : queries) {
        answers.add(lines(database, sql));
      }
    }
    return answers;
  }

  private static List<String> lines(ArchiveDatabase database, String sql) throws Exception {
    List<String> lines = new ArrayList<>();
    try (PreparedStatement query = database.prepare(sql); ResultSet rows = query.executeQuery()) {
      int columns = rows.getMetaData().getColumnCount();
      while (rows.next()) {
        List<String> cells = new ArrayList<>();
        for (int i = 1; i <= columns; i++) {
          cells.add(rows.getString(i));
        }
        lines.add(String.join(" ", cells));
      }
    }
    return lines;
  }
}
