package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.parquet.Manifest.FileEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What becomes of the data files when one manifest replaces others. Small files of the same content and day are merged:
 * a file of one day is dropped on time, and a query of an hour reads little. Large ones are kept as they are, so the
 * sum of all copies of an event is limited by the number of merges until its file is large.
 *
 * @param merged files to merge; at least two each
 * @param kept files to keep
 * @param expired files to drop
 */
record FilePlan(List<List<FileEntry>> merged, List<FileEntry> kept, List<FileEntry> expired) {
  /** A file larger than this part of the target is not merged. */
  private static final int LARGE_PART = 8;

  private static final long DAY_MS = Duration.ofDays(1).toMillis();

  private record Content(Manifest.Kind kind, String type, long day) {
    static Content of(FileEntry file) {
      String type = file.kind() == Manifest.Kind.TYPE ? file.types().get(0) : "";
      return new Content(file.kind(), type, Math.floorDiv(file.receivedMs(), DAY_MS));
    }
  }

  /**
   * @param targetBytes maximum total size of files that are merged into one
   * @param expiryMs files with only older content are dropped
   */
  static FilePlan of(Collection<Manifest> manifests, long targetBytes, long expiryMs) {
    FilePlan plan = new FilePlan(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    Map<Content, List<FileEntry>> small = new LinkedHashMap<>();
    for (Manifest manifest : manifests) {
      for (FileEntry file : manifest.files()) {
        if (file.receivedMs() < expiryMs) {
          plan.expired.add(file);
        } else if (file.bytes() > targetBytes / LARGE_PART) {
          plan.kept.add(file);
        } else {
          small.computeIfAbsent(Content.of(file), content -> new ArrayList<>()).add(file);
        }
      }
    }
    small.values().forEach(files -> plan.pack(files, targetBytes));
    return plan;
  }

  private void pack(List<FileEntry> files, long targetBytes) {
    List<FileEntry> together = new ArrayList<>();
    long bytes = 0;
    for (FileEntry file : files) {
      if (bytes + file.bytes() > targetBytes) {
        close(together);
        together = new ArrayList<>();
        bytes = 0;
      }
      together.add(file);
      bytes += file.bytes();
    }
    close(together);
  }

  private void close(List<FileEntry> together) {
    if (together.size() > 1) {
      merged.add(together);
    } else {
      kept.addAll(together);
    }
  }

  /** Returns the files whose content is copied. */
  Set<FileEntry> copied() {
    return merged.stream().flatMap(List::stream).collect(Collectors.toSet());
  }
}
