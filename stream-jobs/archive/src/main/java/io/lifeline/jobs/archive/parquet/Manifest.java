package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.TypeEntry;
import java.time.Instant;
import java.util.List;
import java.util.Objects;

/**
 * Describes what one roll published, or sums up the rolls of a wider range: only manifests define which files belong to
 * the archive. The manifests of a partition cover its offsets without gap or overlap. Its {@link ManifestFile} also has
 * an entry for each route of the rolls: what was archived once stays counted, whatever becomes of the data files.
 *
 * @param version format version: 2, or 1 if an earlier release wrote it
 * @param from first offset of the roll
 * @param to first offset after the roll
 * @param rolls number of rolls that it describes
 * @param types of all events of the rolls, including those that the retention has removed
 * @param duplicates duplicates absorbed
 * @param rejected invalid messages and conflicts
 * @param replaces names of the manifests that this one replaced; they are ignored
 * @param obsolete names of data files that no manifest uses any more, for a later compaction to delete
 * @param source identity of the offsets' source, such as the topic ID; null if unknown
 * @param lastMessage CRC-32 of the message before {@code to}; null if there was none or it is unknown
 */
public record Manifest(
    int version,
    int partition,
    long from,
    long to,
    String written,
    long rolls,
    List<FileEntry> files,
    List<TypeEntry> types,
    long duplicates,
    long rejected,
    List<String> replaces,
    List<String> obsolete,
    String source,
    Long lastMessage) {

  public static final int VERSION = 2;

  /** Checks what is read from a file. */
  public Manifest {
    Instant.parse(written);
    for (List<?> list : List.of(files, types, replaces, obsolete)) {
      list.forEach(Objects::requireNonNull);
    }
    if (partition < 0 || from < 0 || to < from) {
      throw new IllegalArgumentException("no range of a partition: " + from + " to " + to + " of " + partition);
    }
  }

  /** Content of a data file. */
  public enum Kind {
    /** Events of one type. */
    TYPE,
    /** Events of several rare types, with their fields in {@link Slots}. */
    SHARED,
    /** Headers of batches. */
    BATCHES
  }

  /**
   * A data file.
   *
   * @param types ids of the types whose events it holds
   * @param sha256 SHA-256 of the content; null if an earlier release wrote it
   * @param times times of its events; null if an earlier release wrote it, and for batches
   * @param receivedMs when the broker stored the newest message that it has content of
   */
  public record FileEntry(String name, Kind kind, List<String> types, long rows, long bytes, String sha256,
      TimeSpan times, long receivedMs) {

    /** Checks what is read from a file: a name leads into the folder of the data. */
    public FileEntry {
      Objects.requireNonNull(kind);
      types.forEach(Objects::requireNonNull);
      if (name.isEmpty() || name.contains("/") || name.contains("\0")) {
        throw new IllegalArgumentException("no name of a file: " + name);
      }
    }

    /** Returns whether it may have events of that span. */
    public boolean mayHave(TimeSpan span) {
      return times == null || times.overlaps(span);
    }
  }

  /** Returns the manifest without types and files, for those who need only the routes. */
  Manifest withoutContent() {
    return new Manifest(version, partition, from, to, written, rolls, List.of(), List.of(), duplicates, rejected,
        replaces, List.of(), source, lastMessage);
  }

  /** Returns the manifest with type names as the current release writes them. */
  Manifest clean() {
    return new Manifest(version, partition, from, to, written, rolls, files,
        types.stream().map(TypeEntry::clean).toList(), duplicates, rejected, replaces, obsolete, source,
        lastMessage);
  }
}
