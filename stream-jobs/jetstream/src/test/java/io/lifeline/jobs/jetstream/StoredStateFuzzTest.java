package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.cases.Guided;
import io.lifeline.jobs.archive.parquet.ManifestCounts;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.StateReader.CorruptStateException;
import io.lifeline.jobs.core.ledger.LedgerJob;
import io.lifeline.jobs.core.ledger.LedgerSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Reads damaged copies of what the jobs have stored. It is read or refused, by an exception that says so.
 * scripts/fuzz runs this for longer, guided by coverage.
 */
class StoredStateFuzzTest {
  private static final Path UPGRADE = Path.of("src/test/upgrade");
  private static final Path STATES = Path.of("../core/src/test/state");
  private static final int TRIES = 1500;

  @TempDir Path directory;

  @Test
  void manifestsOfAnArchive() throws Exception {
    List<byte[]> seeds = new ArrayList<>();
    try (Stream<Path> files = Files.list(UPGRADE)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".json")).sorted().toList()) {
        seeds.add(Files.readAllBytes(file));
      }
    }
    assertThat(seeds).isNotEmpty();
    Path manifest = Files.createDirectories(directory.resolve("manifests")).resolve("0-00000000000000000000.json");
    for (byte[] seed : seeds) {
      Files.write(manifest, seed);
      assertThat(new ManifestCounts(directory).refresh()).isNotEmpty();
    }
    Guided.each(TRIES, seeds, bytes -> {
      Files.write(manifest, bytes);
      try {
        new ManifestCounts(directory).refresh();
      } catch (IOException e) {
        assertThat(e).hasMessageMatching("(?s).*(is damaged: restore it|use a newer one|is inconsistent).*");
      }
    });
  }

  @Test
  void checkpoints() throws Exception {
    MemoryState state = new MemoryState();
    state.put("a", new byte[] {1, 2, 3});
    state.markStored();
    state.put("b", new byte[] {4});
    state.delete("a");
    Checkpoint checkpoint = new Checkpoint(Instant.ofEpochSecond(1, 2), 5, 6, state,
        List.of(new OutgoingMessage("subject", "key", "id", new byte[] {1})));
    byte[] changes = checkpoint.encodeChanges();
    List<byte[]> seeds = List.of(checkpoint.encode(), changes,
        new CheckpointHead(3, List.of(CheckpointHead.Part.of("3-1", 2, changes)), changes).encode());
    Guided.each(TRIES, seeds, bytes -> {
      try {
        CheckpointHead.decode(bytes);
      } catch (CorruptStateException | CheckpointHead.DamagedException e) {
        assertThat(e).isNotNull();
      }
      try {
        Checkpoint.decode(bytes, new MemoryState());
      } catch (CorruptStateException e) {
        assertThat(e).hasMessageMatching("(?s).*(state|release).*");
      }
    });
  }

  @Test
  void accountsOfTheLedger() throws Exception {
    List<byte[]> seeds = new ArrayList<>();
    try (Stream<Path> files = Files.list(STATES)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".txt")).sorted().toList()) {
        Files.readAllLines(file).stream().filter(line -> line.startsWith("ledger%2Faccount%2F"))
            .map(line -> HexFormat.of().parseHex(line.substring(line.indexOf(' ') + 1))).forEach(seeds::add);
      }
    }
    assertThat(seeds).hasSizeGreaterThanOrEqualTo(5);
    Guided.each(TRIES, seeds, bytes -> {
      MemoryState state = new MemoryState();
      state.put("ledger/account/000000000000abcd0000000000000001-0", bytes);
      try {
        LedgerJob job = new LedgerJob(new LedgerSettings(1000, 60_000, 1_000_000), state,
            () -> new LedgerJob.Counts(Map.of(), Map.of(0, 1L)), new Metrics());
        job.punctuate(1_000_000, (destination, key, id, value) -> {});
        job.save();
      } catch (CorruptStateException e) {
        assertThat(e).hasMessageMatching("(?s).*(state|release).*");
      }
    });
  }
}
