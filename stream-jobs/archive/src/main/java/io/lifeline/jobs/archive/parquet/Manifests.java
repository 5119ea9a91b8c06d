package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveUnavailableException;
import io.lifeline.jobs.archive.EmptyArchiveException;
import io.lifeline.jobs.archive.RouteEntry;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** Reads and publishes the manifests of an archive, which list its content. */
public final class Manifests {
  private static final String END = ".end";

  /** How often a reading is tried that compactions disturb: for ten seconds, and longer on a busy machine. */
  private static final int READ_ATTEMPTS = 100;

  private static final long READ_PAUSE_NS = 100_000_000;
  private static final Comparator<Manifest> ORDER =
      Comparator.comparingInt(Manifest::partition).thenComparingLong(Manifest::from);

  private Manifests() {}

  /** Receives the routes of a manifest. */
  public interface RouteVisitor<E extends Exception> {
    void visit(RouteEntry route) throws E;
  }

  /** Returns the valid manifests, which no other one has replaced, ordered by partition and offset. */
  public static List<Manifest> read(ArchiveDirectory directory) throws IOException {
    return List.copyOf(readByName(directory).values());
  }

  /** As {@link #read}, by name. */
  public static Map<String, Manifest> readByName(ArchiveDirectory directory) throws IOException {
    return readByName(directory, "", new HashMap<>(), UnaryOperator.identity());
  }

  /**
   * As {@link #readByName(ArchiveDirectory)}, of an archive with content: where nothing was read, nobody may conclude
   * that all is well.
   */
  public static Map<String, Manifest> readExisting(ArchiveDirectory directory) throws IOException {
    if (!Files.isDirectory(directory.root())) {
      throw new ArchiveException("there is no archive at " + directory.root()
          + ": give the directory that is archive.dir of the jobs");
    }
    // A data file gets its final name after its manifest: one that is here has a manifest in a later listing.
    long files = ArchiveDirectory.names(directory.data()).stream().filter(name -> name.endsWith(".parquet")).count();
    Map<String, Manifest> manifests = readByName(directory);
    if (!manifests.isEmpty()) {
      return manifests;
    }
    if (files > 0) {
      throw new ArchiveException("the archive " + directory.root() + " has lost its manifests: it has " + files
          + " data files that none names: restore " + directory.manifests() + " from a backup");
    }
    throw new EmptyArchiveException("the archive " + directory.root()
        + " is empty: nothing has been published into it yet" + (directory.id() != null ? ""
            : ", and it has no file archive-id: give the directory that is archive.dir of the jobs"));
  }

  /** As {@link #readByName(ArchiveDirectory)}, of one partition. */
  static Map<String, Manifest> readByName(ArchiveDirectory directory, int partition) throws IOException {
    return readByName(directory, partition + "-", new HashMap<>(), UnaryOperator.identity());
  }

  /**
   * As {@link #readByName(ArchiveDirectory)}.
   *
   * @param known manifests read before, which never change; updated by this call
   * @param excerpt what the caller keeps of a manifest: its range and what it replaces at least
   */
  static Map<String, Manifest> readByName(ArchiveDirectory directory, Map<String, Manifest> known,
      UnaryOperator<Manifest> excerpt) throws IOException {
    return readByName(directory, "", known, excerpt);
  }

  private static Map<String, Manifest> readByName(ArchiveDirectory directory, String prefix,
      Map<String, Manifest> known, UnaryOperator<Manifest> excerpt) throws IOException {
    for (int attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
      Map<Integer, Long> ends = ends(directory);
      ends.keySet().removeIf(partition -> !(partition + "-").startsWith(prefix));
      List<String> names = names(directory, prefix);
      try {
        Map<String, Manifest> current = current(directory, names, known, excerpt);
        // A listing is not a snapshot: during a compaction it may lack both the old manifests and the new one.
        if (known.keySet().containsAll(compacted(names(directory, prefix)))) {
          checkTiling(directory, current.values());
          checkEnds(directory, ends, current.values());
          return current;
        }
      } catch (NoSuchFileException e) {
        // A compaction removed it after the listing; its successor is in the next listing.
      }
      LockSupport.parkNanos(READ_PAUSE_NS);
    }
    throw changing(directory);
  }

  private static ArchiveException changing(ArchiveDirectory directory) {
    return new ArchiveException("the manifests of the archive " + directory.root() + " changed in each of "
        + READ_ATTEMPTS + " readings: try again, and if that does not help, look for a program that compacts it all the"
        + " time");
  }

  /** Visits the routes of a manifest that was read, one by one. */
  public static <E extends Exception> void forEachRoute(ArchiveDirectory directory, String name,
      RouteVisitor<E> visitor) throws IOException, E {
    Path file = directory.manifests().resolve(name);
    try {
      ManifestFile.forEachRoute(file, visitor);
    } catch (NoSuchFileException e) {
      throw new ArchiveException("the manifest " + file + " was replaced and then removed: open the archive again", e);
    }
  }

  static List<String> names(ArchiveDirectory directory, String prefix) throws IOException {
    return ArchiveDirectory.names(directory.manifests()).stream()
        .filter(name -> name.startsWith(prefix) && name.endsWith(".json")).toList();
  }

  private static List<String> compacted(List<String> names) {
    return names.stream().filter(ArchiveDirectory::isCompacted).toList();
  }

  /** Returns those that no other one has replaced, and only reads what may be one of them. */
  private static Map<String, Manifest> current(ArchiveDirectory directory, List<String> names,
      Map<String, Manifest> known, UnaryOperator<Manifest> excerpt) throws IOException {
    known.keySet().retainAll(Set.copyOf(names));
    Set<String> replaced = new HashSet<>();
    for (String name : compacted(names)) {
      replaced.addAll(read(directory, name, known, excerpt).replaces());
    }
    Map<String, Manifest> current = new HashMap<>();
    for (String name : names) {
      if (!replaced.contains(name)) {
        current.put(name, read(directory, name, known, excerpt));
      }
    }
    Map<String, Manifest> ordered = new LinkedHashMap<>();
    current.entrySet().stream().sorted(Map.Entry.comparingByValue(ORDER))
        .forEach(entry -> ordered.put(entry.getKey(), entry.getValue()));
    return ordered;
  }

  private static Manifest read(ArchiveDirectory directory, String name, Map<String, Manifest> known,
      UnaryOperator<Manifest> excerpt) throws IOException {
    Manifest manifest = known.get(name);
    if (manifest == null) {
      manifest = excerpt.apply(ManifestFile.read(directory.manifests().resolve(name)));
      known.put(name, manifest);
    }
    return manifest;
  }

  /** @param manifests in order */
  private static void checkTiling(ArchiveDirectory directory, Collection<Manifest> manifests) throws ArchiveException {
    List<Manifest> ordered = List.copyOf(manifests);
    for (int i = 1; i < ordered.size(); i++) {
      Manifest before = ordered.get(i - 1);
      Manifest after = ordered.get(i);
      if (before.partition() == after.partition() && before.to() != after.from()) {
        throw new ArchiveException("the archive " + directory.root() + " is inconsistent: partition "
            + after.partition() + " has a manifest up to offset " + before.to() + " and then one from offset "
            + after.from() + "; restore its manifests from a backup");
      }
    }
  }

  /**
   * Adds a manifest to the archive atomically: it is written and synced under a temporary name, then link(2) creates
   * its final name, which fails if that name exists already.
   *
   * @throws ArchiveCollisionException if another writer published this range first
   */
  static void publish(ArchiveDirectory directory, ArchivePlace place, String name, Manifest manifest,
      Collection<RouteEntry> routes, Consumer<PublicationStep> progress) throws IOException {
    Path temporary = directory.manifests().resolve(name + "." + UUID.randomUUID() + ArchiveDirectory.TEMPORARY);
    try {
      ManifestFile.write(temporary, manifest, routes);
      progress.accept(PublicationStep.MANIFEST_WRITTEN);
      if (manifest.replaces().isEmpty()) {
        requireEnd(directory, manifest);
      }
      // If the path leads elsewhere afterwards, the temporary file is not there, and the link fails.
      place.check();
      Files.createLink(directory.manifests().resolve(name), temporary);
    } catch (FileAlreadyExistsException e) {
      throw collision(directory, manifest);
    } finally {
      Files.deleteIfExists(temporary);
    }
    progress.accept(PublicationStep.MANIFEST_LINKED);
    ArchiveDirectory.sync(directory.manifests());
    if (manifest.replaces().isEmpty()) { // one that replaces others does not move the end; the writer may be beyond it
      noteEnd(directory, manifest);
    }
  }

  /**
   * Records the end of a partition, so that a lost last manifest is detected. After a crash the record may lag behind.
   */
  private static void noteEnd(ArchiveDirectory directory, Manifest manifest) throws IOException {
    Path end = directory.manifests().resolve(manifest.partition() + END);
    Path temporary = directory.manifests().resolve(manifest.partition() + END + "." + UUID.randomUUID()
        + ArchiveDirectory.TEMPORARY);
    try {
      Files.writeString(temporary, Long.toString(manifest.to()));
      ArchiveDirectory.sync(temporary);
      Files.move(temporary, end, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      // The manifest is published; an outdated end only detects less.
      Files.deleteIfExists(temporary);
    }
  }

  /** Returns the recorded end of each partition. */
  private static Map<Integer, Long> ends(ArchiveDirectory directory) throws IOException {
    Map<Integer, Long> ends = new TreeMap<>();
    for (String name : ArchiveDirectory.names(directory.manifests())) {
      String text = name.endsWith(END) ? Files.readString(directory.manifests().resolve(name)) : "";
      if (text.matches("\\d{1,18}")) {
        ends.put(Integer.parseInt(name.substring(0, name.length() - END.length())), Long.parseLong(text));
      }
    }
    return ends;
  }

  private static void checkEnds(ArchiveDirectory directory, Map<Integer, Long> ends, Collection<Manifest> manifests)
      throws ArchiveException {
    Map<Integer, Long> found = new TreeMap<>();
    manifests.forEach(manifest -> found.merge(manifest.partition(), manifest.to(), Math::max));
    for (Map.Entry<Integer, Long> end : ends.entrySet()) {
      long last = found.getOrDefault(end.getKey(), 0L);
      if (last < end.getValue()) {
        throw new ArchiveException("the archive " + directory.root() + " has lost the last manifests of partition "
            + end.getKey() + ": it went up to offset " + end.getValue() + " and now ends at " + last
            + "; restore its manifests from a backup, or remove " + directory.manifests().resolve(end.getKey() + END)
            + " to continue there and read again the messages that the broker still has");
      }
    }
  }

  private static ArchiveCollisionException collision(ArchiveDirectory directory, Manifest manifest) {
    return new ArchiveCollisionException("another writer has already archived partition " + manifest.partition()
        + " from offset " + manifest.from() + " in " + directory.root()
        + ": only one may write a partition; stop one of the two");
  }

  /** Checks that the archive ends where the manifest begins: it may have been restored or written meanwhile. */
  private static void requireEnd(ArchiveDirectory directory, Manifest manifest) throws IOException {
    long end = end(directory, manifest.partition());
    if (end > manifest.from()) {
      throw collision(directory, manifest);
    }
    if (end < manifest.from()) {
      throw new ArchiveUnavailableException("the archive " + directory.root() + " has changed while it was open:"
          + " partition " + manifest.partition() + " went up to offset " + manifest.from() + " and now ends at " + end
          + "; it is opened again", null);
    }
  }

  /** Returns the current end of a partition by reading one manifest at most; 0 if it has none. */
  static long end(ArchiveDirectory directory, int partition) throws IOException {
    for (int attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
      List<String> names = names(directory, partition + "-");
      long compacted =
          names.stream().mapToLong(name -> ArchiveDirectory.compactedUpTo(name, partition)).max().orElse(0);
      String last = names.isEmpty() ? null : names.get(names.size() - 1);
      try {
        return last == null ? 0 : Math.max(compacted, ManifestFile.read(directory.manifests().resolve(last)).to());
      } catch (NoSuchFileException e) {
        // A compaction has just removed it.
      }
    }
    throw changing(directory);
  }
}
