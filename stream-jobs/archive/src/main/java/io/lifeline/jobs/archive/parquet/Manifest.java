package io.lifeline.jobs.archive.parquet;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.archive.TypeEntry;
import java.util.List;

/**
 * What one roll (or one compaction) published: the only thing that says which files belong to the archive. The
 * manifests of a partition tile its offsets without gap or overlap.
 *
 * @param version of this format: 1
 * @param from first offset that the roll was responsible for
 * @param to first offset that it was not
 * @param duplicates repeats that were absorbed
 * @param rejected messages that were no legal batches, or conflicts
 * @param replaces names of the manifests whose content a compaction took over; they count no more
 * @param obsolete names of data files that no manifest uses any more, for a later compaction to delete
 * @param source what the offsets count in, such as the id of the topic; null if nobody could tell
 * @param lastMessage CRC-32 of the message before {@code to}; null if there was none or it is not known
 */
public record Manifest(
    int version,
    int partition,
    long from,
    long to,
    String written,
    List<FileEntry> files,
    List<TypeEntry> types,
    List<RouteEntry> routes,
    long duplicates,
    long rejected,
    List<String> replaces,
    List<String> obsolete,
    String source,
    Long lastMessage) {

  public static final int VERSION = 1;

  /** What a data file holds. */
  public enum Kind {
    /** Events of one type. */
    TYPE,
    /** Events of several rare types, their fields in {@link Slots}. */
    SHARED,
    /** The batches' headers. */
    BATCHES
  }

  /**
   * A data file.
   *
   * @param types ids of the types whose events it holds
   * @param sha256 of its content; null if an earlier program wrote it
   */
  public record FileEntry(String name, Kind kind, List<String> types, long rows, long bytes, String sha256) {}

  /** With the names of types as they would be written now. */
  Manifest clean() {
    return new Manifest(version, partition, from, to, written, files, types.stream().map(TypeEntry::clean).toList(),
        routes, duplicates, rejected, replaces, obsolete, source, lastMessage);
  }

  @JsonIgnore
  String name() {
    return ArchiveDirectory.manifestName(partition, from);
  }

  /** Events in its files. */
  @JsonIgnore
  public long events() {
    return files.stream().filter(file -> file.kind() != Kind.BATCHES).mapToLong(FileEntry::rows).sum();
  }
}
