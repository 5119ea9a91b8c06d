package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.RetentionClock;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateReader.CorruptStateException;
import io.lifeline.jobs.core.StateWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time by which files of a Parquet archive expire: the earlier of its newest message and this machine's time,
 * through a {@link RetentionClock}, since on one host a clock that is set forward moves both. The clock is kept in the
 * archive, or a restart would take the wrong time for the right one. Used under the lock of the compaction.
 */
final class ExpiryClock {
  private static final Logger LOG = LoggerFactory.getLogger(ExpiryClock.class);

  private final Path file;
  private final LongSupplier nanoTime;
  private MemoryState state;
  private RetentionClock clock;

  ExpiryClock(Path file, LongSupplier nanoTime) {
    this.file = file;
    this.nanoTime = nanoTime;
  }

  /**
   * Returns the time.
   *
   * @param newestMs when the newest message of all partitions was received
   */
  long nowMs(long newestMs) throws IOException {
    if (clock == null) {
      start();
    }
    long latestMs = Math.min(newestMs, System.currentTimeMillis());
    clock.observe(latestMs);
    long nowMs = Math.min(clock.nowMs(), latestMs);
    clock.save();
    try {
      write();
    } catch (IOException e) { // on a full disk, which only the run that follows relieves
      LOG.warn("the time in {} cannot be written, so after a restart data is kept longer: {}", file, e.getMessage());
    }
    return nowMs;
  }

  private void start() throws IOException {
    try {
      state = Files.exists(file) ? MemoryState.decode(new StateReader(Files.readAllBytes(file))) : new MemoryState();
      clock = new RetentionClock(state, nanoTime);
    } catch (CorruptStateException e) {
      throw new ArchiveException("the time in " + file + " cannot be read, so nothing expires: remove the file if the"
          + " clock of this machine is right", e);
    }
  }

  private void write() throws IOException {
    StateWriter out = new StateWriter();
    state.encode(out);
    Path temporary = file.resolveSibling(file.getFileName() + ArchiveDirectory.TEMPORARY);
    Files.write(temporary, out.toBytes());
    ArchiveDirectory.sync(temporary);
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
