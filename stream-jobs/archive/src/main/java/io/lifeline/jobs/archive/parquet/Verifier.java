package io.lifeline.jobs.archive.parquet;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads every data file of an archive and compares it with what its manifest says. */
public final class Verifier {
  private Verifier() {}

  /**
   * Result of a verification.
   *
   * @param unhashed files whose manifests an earlier release wrote, without a hash: only their size was compared
   * @param damages damaged files, one sentence each
   */
  public record Result(int manifests, int files, long bytes, int unhashed, List<String> damages) {}

  /** Checks all files; throws if there are none, or a manifest is missing or inconsistent. */
  public static Result verify(Path root) throws IOException {
    ArchiveDirectory directory = new ArchiveDirectory(root);
    Map<String, Manifest> manifests = Manifests.readExisting(directory);
    int files = 0;
    long bytes = 0;
    int unhashed = 0;
    List<String> damages = new ArrayList<>();
    for (Map.Entry<String, Manifest> manifest : manifests.entrySet()) {
      Manifests.forEachRoute(directory, manifest.getKey(), route -> {});
      for (Manifest.FileEntry file : manifest.getValue().files()) {
        files++;
        bytes += file.bytes();
        unhashed += file.sha256() == null ? 1 : 0;
        String damage = damage(directory, file);
        if (damage != null) {
          damages.add(damage + " (manifest " + manifest.getKey() + ")");
        }
      }
    }
    return new Result(manifests.size(), files, bytes, unhashed, List.copyOf(damages));
  }

  /** Describes the damage of a file; null if it matches its manifest. */
  static String damage(ArchiveDirectory directory, Manifest.FileEntry file) {
    try {
      return FileHash.damage(directory, file);
    } catch (IOException e) {
      return file.name() + " cannot be read: " + e.getMessage();
    }
  }
}
