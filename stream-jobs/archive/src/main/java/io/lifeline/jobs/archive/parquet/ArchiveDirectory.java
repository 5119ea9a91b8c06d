package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveUnavailableException;
import io.lifeline.jobs.archive.PartitionWriter;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Directory layout of an archive, and operations that must reach the disk before the next one starts.
 *
 * <pre>
 * manifests/0-00000000000000000042.json                        a roll of partition 0 that begins at offset 42
 * manifests/0-00000000000000000042.00000000000000000977.json   what replaced all manifests of [42, 977)
 * manifests/0-00000000000000000042.00000000000000000977.1.json what replaced that one
 * archive-id                                                   random; tells this archive from another at the same path
 * retention-clock                                              see {@link ExpiryClock}
 * refused-0                                                    why partition 0 is not written until an operator decides
 * data/*.parquet                                               files named in manifests; .tmp before publication
 * locks/partition-0, locks/compaction                          held by the active writer
 * </pre>
 */
public final class ArchiveDirectory {
  static final String TEMPORARY = ".tmp";

  /** A live writer renames its file within moments; a dead one is not waited for. */
  private static final int RENAME_POLLS = 20;

  private static final long RENAME_POLL_NS = 10_000_000;
  private static final String REFUSED = "refused-";
  private static final String ID = "archive-id";
  private static final Pattern COMPACTED = Pattern.compile("(\\d+)-\\d{20}\\.(\\d{20})(?:\\.(\\d+))?\\.json");

  private final Path root;
  private final Path manifests;
  private final Path data;
  private final Path locks;

  public ArchiveDirectory(Path root) {
    this.root = root;
    this.manifests = root.resolve("manifests");
    this.data = root.resolve("data");
    this.locks = root.resolve("locks");
  }

  public Path root() {
    return root;
  }

  Path manifests() {
    return manifests;
  }

  public Path data() {
    return data;
  }

  Path locks() {
    return locks;
  }

  Path retentionClock() {
    return root.resolve("retention-clock");
  }

  /** Returns why a partition is not written, see {@link PartitionWriter#checkRefusal}; null if it is. */
  String refusal(int partition) throws IOException {
    try {
      return Files.readString(root.resolve(REFUSED + partition)).strip();
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /** Replaces the refusal of a partition. */
  void refuse(int partition, String why) throws IOException {
    Path file = root.resolve(REFUSED + partition);
    Path temporary = root.resolve(REFUSED + partition + "." + UUID.randomUUID() + TEMPORARY);
    Files.writeString(temporary, why + "\n");
    sync(temporary);
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    sync(root);
  }

  /** Removes the refusal of a partition. */
  void resume(int partition) throws IOException {
    Files.deleteIfExists(root.resolve(REFUSED + partition));
    sync(root);
  }

  /** Returns the partitions with a refusal, or an accepted loss. */
  List<Integer> refused() throws IOException {
    return names(root).stream().filter(name -> name.matches(REFUSED + "\\d{1,9}"))
        .map(name -> Integer.valueOf(name.substring(REFUSED.length()))).toList();
  }

  /**
   * Opens the archive for writing; creates it if there is none.
   *
   * @param expected id of the archive; null if it is not known yet
   * @throws ArchiveUnavailableException if the expected archive is not here: it was unmounted, moved or replaced
   */
  void open(String expected) throws IOException {
    String found = id();
    if (expected != null && !expected.equals(found)) {
      throw new ArchiveUnavailableException("the archive " + expected + " is not at " + root + " ("
          + (found == null ? "no archive" : "the archive " + found) + " is there): mount its file system or move it"
          + " back; to write to this place nevertheless, restart the jobs", null);
    }
    if (found == null) {
      create();
    }
    for (Path directory : List.of(manifests, data)) {
      if (!Files.isDirectory(directory)) {
        throw new ArchiveException("the archive " + root + " has lost its folder " + directory.getFileName()
            + ": restore it from a backup, or give the jobs another archive.dir");
      }
    }
    Files.createDirectories(locks);
  }

  private void create() throws IOException {
    for (Path directory : List.of(manifests, data, locks)) {
      Files.createDirectories(directory);
    }
    // The id comes last: an archive that has one is complete.
    Path temporary = root.resolve(ID + "." + UUID.randomUUID() + TEMPORARY);
    try {
      Files.writeString(temporary, UUID.randomUUID() + "\n");
      sync(temporary);
      Files.createLink(root.resolve(ID), temporary);
    } catch (FileAlreadyExistsException e) {
      // Another writer has just created it.
    } finally {
      Files.deleteIfExists(temporary);
    }
    sync(root);
    Path parent = root.toAbsolutePath().getParent();
    if (parent != null) {
      sync(parent);
    }
  }

  /** Returns the archive's id; null if there is no archive, or one that an earlier release made. */
  String id() throws IOException {
    try {
      return Files.readString(root.resolve(ID)).strip();
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /** Returns the archive's id. */
  String requireId() throws IOException {
    String id = id();
    if (id == null) {
      throw new ArchiveUnavailableException("there is no archive at " + root, null);
    }
    return id;
  }

  static String manifestName(int partition, long from) {
    return String.format(Locale.ROOT, "%d-%020d.json", partition, from);
  }

  /**
   * Returns the name of a manifest that replaces others. Names are never used again, since readers know manifests by
   * their names.
   */
  static String compactedName(int partition, long from, long to, Collection<String> replaced) {
    String name = String.format(Locale.ROOT, "%d-%020d.%020d", partition, from, to);
    String only = replaced.size() == 1 ? replaced.iterator().next() : "";
    Matcher matcher = COMPACTED.matcher(only);
    if (!only.startsWith(name) || !matcher.matches()) {
      return name + ".json";
    }
    return name + "." + (matcher.group(3) == null ? 1 : Long.parseLong(matcher.group(3)) + 1) + ".json";
  }

  /** Returns the end offset of a compaction's manifest; -1 if the name is not such a manifest of that partition. */
  static long compactedUpTo(String name, int partition) {
    Matcher matcher = COMPACTED.matcher(name);
    return matcher.matches() && matcher.group(1).equals(Integer.toString(partition))
        ? Long.parseLong(matcher.group(2)) : -1;
  }

  static boolean isCompacted(String name) {
    return COMPACTED.matcher(name).matches();
  }

  /** Syncs a file's content, or a directory's entries, to the disk. */
  static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Returns the names of the files in a directory, in order; none if it does not exist. */
  static List<String> names(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  /** Takes a lock, or fails if another writer has it. */
  WriterLock lock(String name, String what) throws IOException {
    Path file = locks.resolve(name);
    WriterLock lock = WriterLock.tryLock(file);
    if (lock == null) {
      throw new ArchiveCollisionException(
          what + " of the archive " + root + " is in use by another writer (lock " + file
              + "): stop that one, or give this one another archive.dir");
    }
    return lock;
  }

  /** Returns the path of each data file of the manifests. */
  public Map<String, String> locate(Collection<Manifest> manifests) throws IOException {
    Set<String> present = new HashSet<>(names(data));
    Map<String, String> paths = new HashMap<>();
    for (Manifest manifest : manifests) {
      for (Manifest.FileEntry file : manifest.files()) {
        Path path = present.contains(file.name()) ? data.resolve(file.name()) : locate(file.name());
        paths.put(file.name(), path.toString());
      }
    }
    return paths;
  }

  /**
   * Returns the path of a data file: its name, or still its temporary name if the manifest was published only just now,
   * or by a process that died at that point.
   */
  public Path locate(String dataFile) throws IOException {
    Path published = data.resolve(dataFile);
    if (Files.exists(published)) {
      return published;
    }
    Path temporary = data.resolve(dataFile + TEMPORARY);
    for (int i = 0; i < RENAME_POLLS && Files.exists(temporary); i++) {
      LockSupport.parkNanos(RENAME_POLL_NS);
    }
    if (Files.exists(temporary)) {
      return temporary;
    }
    if (Files.exists(published)) {
      return published;
    }
    throw lost(published);
  }

  ArchiveException lost(Path dataFile) {
    return new ArchiveException("the archive " + root + " has lost " + dataFile
        + ", which a manifest names: restore it from a backup, or remove that manifest and those after it of its"
        + " partition to have their messages read again. If two writers had the same partition, the file system has no"
        + " working locks: stop one of them");
  }
}
