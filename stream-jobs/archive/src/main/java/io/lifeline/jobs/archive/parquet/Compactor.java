package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriteException;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Merges the manifests of many rolls, and their small files, into a few, and drops expired files, while writers write
 * and readers read.
 *
 * <p>The data files and manifests that are no longer used stay for a grace period, for readers that opened the archive
 * earlier, and are deleted by a later run. After a crash at any moment either the old or the new manifests are valid.
 */
public final class Compactor {
  /** Default of the maximum total size of files that are merged into one. */
  public static final long DEFAULT_TARGET_BYTES = 256L << 20;

  /** Memory of DuckDB per thread, and at most. */
  private static final long THREAD_BYTES = 512L << 20;

  private static final long MAX_BYTES = 1L << 30;

  /** A larger manifest is left alone, unless its neighbours have the same routes: those of a month need much memory. */
  static final long LARGE_MANIFEST_BYTES = 4L << 20;

  private final ParquetOptions options;
  private final ArchiveDirectory directory;
  private final long targetBytes;
  private final Duration grace;
  private final Consumer<PublicationStep> progress;
  private final ExpiryClock clock;

  /** Large manifests whose neighbours have other routes. */
  private final Set<String> apart = new HashSet<>();

  private String id;
  private volatile DuckTables duck;

  /**
   * Result of a compaction.
   *
   * @param damages damaged files that were not merged, one sentence each
   */
  public record Result(int manifestsBefore, int manifestsAfter, int filesBefore, int filesAfter, int filesDeleted,
      List<String> damages) {}

  /**
   * @param targetBytes maximum total size of files that are merged into one
   * @param grace how long files and manifests that are no longer used are kept
   */
  public Compactor(ParquetOptions options, long targetBytes, Duration grace) {
    this(options, targetBytes, grace, step -> {});
  }

  Compactor(ParquetOptions options, long targetBytes, Duration grace, Consumer<PublicationStep> progress) {
    this(options, targetBytes, grace, progress, System::nanoTime);
  }

  Compactor(ParquetOptions options, long targetBytes, Duration grace, Consumer<PublicationStep> progress,
      LongSupplier nanoTime) {
    this.options = options;
    this.directory = new ArchiveDirectory(options.directory());
    this.targetBytes = targetBytes;
    this.grace = grace;
    this.progress = progress;
    this.clock = new ExpiryClock(directory.retentionClock(), nanoTime);
  }

  /**
   * Merges everything that can be merged.
   *
   * @throws ArchiveCollisionException if another compaction is running
   */
  public Result compact() throws IOException {
    Manifests.readExisting(directory); // run() would create an archive where there is none
    return run(Policy.EVERYTHING, workedNs -> true);
  }

  /** Leaves alone any archive at this path with another id. */
  void expect(String archive) {
    id = archive;
  }

  /** Ends the copying of a run in another thread, which then fails. */
  void cancel() {
    DuckTables running = duck;
    if (running != null) {
      running.cancelCopy();
    }
  }

  /**
   * Merges what the policy says, and drops expired files.
   *
   * @param goesOn called after each replacement with its nanoseconds; may wait, and returns whether to go on
   * @throws ArchiveCollisionException if another compaction is running
   */
  Result run(Policy policy, LongPredicate goesOn) throws IOException {
    directory.open(id);
    long memory = Math.min(MAX_BYTES, THREAD_BYTES * options.threads());
    try (WriterLock lock = directory.lock("compaction", "the compaction");
        DuckTables tables = new DuckTables(options.threads(), memory)) {
      duck = tables;
      ArchivePlace place = new ArchivePlace(directory);
      Publication publication = new Publication(directory, place, progress);
      return new Run(policy, goesOn, place, new Replacement(directory, tables, publication)).all();
    } finally {
      duck = null;
    }
  }

  /** Returns the time before which everything has expired that was received. */
  private long expiryMs(Collection<Manifest> manifests) throws IOException {
    OptionalLong newestMs = manifests.stream().flatMap(manifest -> manifest.files().stream())
        .mapToLong(Manifest.FileEntry::receivedMs).max();
    return options.retention() == null || newestMs.isEmpty() ? Long.MIN_VALUE
        : clock.nowMs(newestMs.getAsLong()) - options.retention().toMillis();
  }

  /** One run over the partitions, one after the other. */
  private final class Run {
    private final Policy policy;
    private final LongPredicate goesOn;
    private final ArchivePlace place;
    private final Replacement replacement;
    private final Set<String> damages = new LinkedHashSet<>();
    private int manifestsBefore;
    private int manifestsAfter;
    private int filesBefore;
    private int filesAfter;
    private int deleted;
    private long expiryMs = Long.MIN_VALUE;
    private boolean isOver;

    Run(Policy policy, LongPredicate goesOn, ArchivePlace place, Replacement replacement) {
      this.place = place;
      this.policy = policy;
      this.goesOn = goesOn;
      this.replacement = replacement;
    }

    /** A partition that cannot be merged does not keep the others from dropping what has expired. */
    Result all() throws IOException {
      ArchiveWriteException failure = null;
      Map<String, Manifest> all = Manifests.readByName(directory);
      expiryMs = expiryMs(all.values());
      for (Map.Entry<Integer, Map<String, Manifest>> partition : byPartition(all).entrySet()) {
        try {
          if (!isOver) {
            partition(partition.getKey(), partition.getValue());
          }
        } catch (ArchiveWriteException e) {
          failure = e;
          isOver = !goesOn.test(0); // the copy may have been cancelled
        }
      }
      if (failure != null) {
        throw failure;
      }
      return new Result(manifestsBefore, manifestsAfter, filesBefore, filesAfter, deleted, List.copyOf(damages));
    }

    private static SortedMap<Integer, Map<String, Manifest>> byPartition(Map<String, Manifest> all) {
      SortedMap<Integer, Map<String, Manifest>> partitions = new TreeMap<>();
      all.forEach((name, manifest) ->
          partitions.computeIfAbsent(manifest.partition(), key -> new LinkedHashMap<>()).put(name, manifest));
      return partitions;
    }

    private void partition(int partition, Map<String, Manifest> found) throws IOException {
      Map<String, Manifest> manifests = found;
      place.check();
      manifestsBefore += manifests.size();
      filesBefore += files(manifests);
      finishFormerOnes(manifests.values());
      removeUnpublished(partition, manifests.values());
      deleteObsolete(manifests.values());
      long end = manifests.values().stream().mapToLong(Manifest::to).max().orElse(0);
      // What has expired goes first: a disk without space for a merge is relieved by it.
      while (replaceGroups(expired(upTo(end, manifests)))
          || replaceGroups(policy.groups(upTo(end, manifests), this::isMergeable, this::ownBytes))) {
        manifests = Manifests.readByName(directory, partition);
      }
      manifestsAfter += manifests.size();
      filesAfter += files(manifests);
    }

    /** Returns the manifests up to that offset: what a writer adds meanwhile is left for the next run. */
    private static Map<String, Manifest> upTo(long end, Map<String, Manifest> manifests) {
      Map<String, Manifest> older = new LinkedHashMap<>(manifests);
      older.values().removeIf(manifest -> manifest.to() > end);
      return older;
    }

    private static int files(Map<String, Manifest> manifests) {
      return manifests.values().stream().mapToInt(manifest -> manifest.files().size()).sum();
    }

    /** Finishes published replacements that were interrupted. */
    private void finishFormerOnes(Collection<Manifest> manifests) throws IOException {
      for (Manifest manifest : manifests) {
        if (!manifest.replaces().isEmpty()) {
          try {
            replacement.finish(manifest);
          } catch (ArchiveException e) { // a file is lost, but its sources may still exist
            damages.add(e.getMessage());
          }
        }
      }
    }

    private void removeUnpublished(int partition, Collection<Manifest> manifests) throws IOException {
      Set<String> published = manifests.stream().flatMap(manifest -> manifest.files().stream())
          .map(file -> file.name() + ArchiveDirectory.TEMPORARY).collect(Collectors.toSet());
      for (String name : ArchiveDirectory.names(directory.data())) {
        if (name.startsWith("compact-" + partition + "-") && name.endsWith(ArchiveDirectory.TEMPORARY)
            && !published.contains(name)) {
          Files.deleteIfExists(directory.data().resolve(name));
        }
      }
    }

    private void deleteObsolete(Collection<Manifest> manifests) throws IOException {
      Instant now = Instant.now();
      boolean removed = false;
      for (Manifest manifest : manifests) {
        if (Instant.parse(manifest.written()).plus(grace).isBefore(now) && isInPlace(manifest)) {
          place.check();
          for (String name : manifest.obsolete()) {
            deleted += Files.deleteIfExists(directory.data().resolve(name)) ? 1 : 0;
          }
          for (String name : manifest.replaces()) {
            removed |= Files.deleteIfExists(directory.manifests().resolve(name));
          }
        }
      }
      if (removed) {
        ArchiveDirectory.sync(directory.manifests());
      }
    }

    private boolean isMergeable(String name, Manifest manifest) {
      return !apart.contains(name) && isInPlace(manifest);
    }

    private long bytes(String name) {
      return directory.manifests().resolve(name).toFile().length();
    }

    private boolean isLarge(String name) {
      return bytes(name) > LARGE_MANIFEST_BYTES;
    }

    /** Returns what it adds to its group: a large one adds nothing, or it is not merged with the others. */
    private long ownBytes(String name) {
      return isLarge(name) ? 0 : bytes(name);
    }

    /** Returns whether its large manifests are not to be merged; the others are then a group without them. */
    private boolean staysApart(Set<String> group) throws IOException {
      List<String> large = group.size() < 2 ? List.of() : group.stream().filter(this::isLarge).toList();
      try {
        return !large.isEmpty() && !shareRoutes(group) && apart.addAll(large);
      } catch (ArchiveException e) { // damaged
        damages.add(e.getMessage());
        return apart.addAll(large);
      }
    }

    /** Returns whether a manifest of all would hardly have more routes than the one that has most of them. */
    private boolean shareRoutes(Set<String> names) throws IOException {
      Set<RouteKey> routes = new HashSet<>();
      long most = 0;
      for (String name : names) {
        long[] count = new long[1];
        Manifests.forEachRoute(directory, name, route -> {
          routes.add(route.key());
          count[0]++;
        });
        most = Math.max(most, count[0]);
        if (routes.size() > most + most / 4) {
          return false;
        }
      }
      return true;
    }

    /** Returns whether all files have been renamed to their final names. */
    private boolean isInPlace(Manifest manifest) {
      return manifest.files().stream().allMatch(file -> Files.exists(directory.data().resolve(file.name())));
    }

    /** Returns alone each manifest that has an expired file. */
    private List<Map<String, Manifest>> expired(Map<String, Manifest> manifests) {
      List<Map<String, Manifest>> expired = new ArrayList<>();
      manifests.forEach((name, manifest) -> {
        if (hasExpired(manifest) && isInPlace(manifest) && isTidy(manifest)) {
          expired.add(Map.of(name, manifest));
        }
      });
      return expired;
    }

    /** Returns whether its obsolete files are gone: a replacement begins their grace anew. */
    private boolean isTidy(Manifest manifest) {
      return manifest.obsolete().stream().noneMatch(name -> Files.exists(directory.data().resolve(name)));
    }

    private boolean hasExpired(Manifest manifest) {
      return manifest.files().stream().anyMatch(file -> file.receivedMs() < expiryMs);
    }

    /** Returns whether any was replaced or stays apart, and the others may be looked at again. */
    private boolean replaceGroups(List<Map<String, Manifest>> groups) throws IOException {
      boolean replaced = false;
      for (Map<String, Manifest> group : isOver ? List.<Map<String, Manifest>>of() : groups) {
        if (staysApart(group.keySet())) {
          replaced = true;
          continue;
        }
        for (Map<String, Manifest> sound : soundParts(group)) {
          long start = System.nanoTime();
          replaced |= replace(sound);
          isOver = !goesOn.test(System.nanoTime() - start);
          if (isOver) {
            return false;
          }
        }
      }
      return replaced;
    }

    private boolean replace(Map<String, Manifest> group) throws IOException {
      try {
        replacement.replace(group, plan(group));
        return true;
      } catch (ArchiveWriteException | ArchiveCollisionException e) {
        throw e;
      } catch (ArchiveException e) { // damaged, and without a hash
        damages.add(e.getMessage());
        return false;
      }
    }

    private FilePlan plan(Map<String, Manifest> group) {
      return FilePlan.of(group.values(), targetBytes, expiryMs);
    }

    /** Splits a group at damaged files. They must not be merged: the copy would look sound but stay wrong forever. */
    private List<Map<String, Manifest>> soundParts(Map<String, Manifest> group) {
      Set<Manifest.FileEntry> copied = plan(group).copied();
      List<Map<String, Manifest>> parts = new ArrayList<>();
      Map<String, Manifest> part = new LinkedHashMap<>();
      for (Map.Entry<String, Manifest> manifest : group.entrySet()) {
        String damage = manifest.getValue().files().stream().filter(copied::contains)
            .map(file -> Verifier.damage(directory, file)).filter(Objects::nonNull).findFirst().orElse(null);
        if (damage == null) {
          part.put(manifest.getKey(), manifest.getValue());
        } else {
          damages.add(damage + ". It is not merged with others: restore it from a backup, or remove the manifest "
              + manifest.getKey() + " and those after it of its partition to have their messages read again;"
              + " 'lifeline-jobs verify' looks at all files");
          parts.add(part);
          part = new LinkedHashMap<>();
        }
      }
      parts.add(part);
      parts.removeIf(candidate ->
          candidate.size() < 2 && candidate.values().stream().noneMatch(this::hasExpired));
      return parts;
    }
  }
}
