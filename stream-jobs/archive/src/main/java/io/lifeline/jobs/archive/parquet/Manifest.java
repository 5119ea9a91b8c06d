package io.lifeline.jobs.archive.parquet;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.archive.TypeEntry;
import java.util.List;

/**
 * Describes what one roll (or one compaction) published: only manifests define which files belong to the archive. The
 * manifests of a partition cover its offsets without gap or overlap.
 *
 * @param version format version: 1
 * @param from first offset of the roll
 * @param to first offset after the roll
 * @param duplicates duplicates absorbed
 * @param rejected invalid messages and conflicts
 * @param replaces names of the manifests that a compaction replaced; they are ignored
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
   */
  public record FileEntry(String name, Kind kind, List<String> types, long rows, long bytes, String sha256) {}

  /** Returns the manifest with type names as the current release writes them. */
  Manifest clean() {
    return new Manifest(version, partition, from, to, written, files, types.stream().map(TypeEntry::clean).toList(),
        routes, duplicates, rejected, replaces, obsolete, source, lastMessage);
  }

  @JsonIgnore
  String name() {
    return ArchiveDirectory.manifestName(partition, from);
  }

  /** Returns the number of events in its files. */
  @JsonIgnore
  public long events() {
    return files.stream().filter(file -> file.kind() != Kind.BATCHES).mapToLong(FileEntry::rows).sum();
  }
}
