package io.lifeline.jobs.archive.export;

import io.lifeline.cases.Hostile;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.EventCursor;
import io.lifeline.jobs.archive.EventReader;
import io.lifeline.jobs.archive.EventSelection;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.archive.sql.ParquetEvents;
import io.lifeline.jobs.core.Glob;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Archives and exports of tests, in a directory of the test. */
final class Exports {
  static final long MEMORY = 256L << 20;

  private final Path directory;
  private int maxOpen = 1_000;
  private int maxTracks = 10_000;

  Exports(Path directory) {
    this.directory = directory;
  }

  Exports withMaxOpen(int value) {
    maxOpen = value;
    return this;
  }

  Exports withMaxTracks(int value) {
    maxTracks = value;
    return this;
  }

  Path archive() {
    return directory.resolve("archive");
  }

  /** Adds batches to the archive; types with fewer rows share a file. */
  void archive(List<byte[]> batches, int rareRows) throws Exception {
    ParquetOptions options = ParquetOptions.in(archive()).withThreads(1).withRareRows(rareRows);
    try (ArchiveWriter writer = new ParquetArchive(options).open(rejection -> {
      throw new AssertionError(rejection.toString());
    })) {
      for (byte[] batch : batches) {
        writer.append(Archives.at(writer.nextOffset(0)), batch);
      }
    }
  }

  void archive(byte[]... batches) throws Exception {
    archive(List.of(batches), 10_000);
  }

  /** The corpus of hostile batches that the repository keeps, except the largest ones, which add only quantity. */
  static List<byte[]> hostile() throws IOException {
    List<byte[]> batches = new ArrayList<>();
    for (Hostile each : Hostile.kept()) {
      if (!each.name().equals("types-1500") && !each.name().equals("widest-type")) {
        batches.addAll(each.batches());
      }
    }
    return batches;
  }

  EventReader reader() throws Exception {
    return ParquetEvents.open(archive(), Files.createDirectories(directory.resolve("spill")), MEMORY);
  }

  /** Exports the archive into this file of the directory. */
  Counts write(ExportFormat format, String name) throws Exception {
    return write(format, name, EventSelection.ALL);
  }

  Counts write(ExportFormat format, String name, EventSelection selection) throws Exception {
    Counts counts = new Counts();
    Path spill = Files.createDirectories(directory.resolve("spill"));
    ExportOptions options = new ExportOptions(maxOpen, maxTracks, List.of(Glob.of("host.*")), spill, MEMORY,
        selection.session());
    try (Unfinished unfinished = new Unfinished();
        Output output = Output.to(file(name), OutputStream.nullOutputStream(), spill, unfinished);
        EventReader reader = reader();
        EventCursor events = new Progress(reader.read(selection), counts, null, System::nanoTime)) {
      format.create(options).write(events, output, counts);
      output.commit();
    }
    return counts;
  }

  Path file(String name) {
    return directory.resolve(name);
  }

  /** Exports the archive and returns the file's text. */
  String text(ExportFormat format) throws Exception {
    String name = "events." + format.name().toLowerCase(Locale.ROOT);
    write(format, name);
    return Files.readString(file(name));
  }
}
