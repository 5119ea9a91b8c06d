package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests leases with a real bucket. */
@Tag("system")
class OwnershipTest extends OnBucket {

  private static final Duration LENGTH = Duration.ofSeconds(10);

  private final AtomicLong nanoTime = new AtomicLong();

  @Test
  void givesALeaseToOneOwnerUntilItStopsRenewing() throws Exception {
    Lease first = lease();
    Lease second = lease();
    assertThat(first.tryAcquire()).hasValue(1);
    assertThat(second.tryAcquire()).isEmpty();
    advance(9);
    first.renewIfDue();
    assertThat(second.tryAcquire()).as("renewed, so the wait starts again").isEmpty();
    advance(9);
    assertThat(second.tryAcquire()).isEmpty();
    advance(2);
    assertThat(second.tryAcquire()).hasValue(2);
    assertThatThrownBy(first::renewIfDue).isInstanceOf(Lease.LostException.class);
  }

  @Test
  void givesALeaseAtOnceWhenItWasReleased() throws Exception {
    Lease first = lease();
    Lease second = lease();
    assertThat(first.tryAcquire()).hasValue(1);
    first.release();
    assertThat(second.tryAcquire()).hasValue(2);
  }

  @Test
  void knowsThatAProcessOfThisMachineHasEnded() throws Exception {
    Process process = new ProcessBuilder("sleep", "60").start();
    String self = new Owner().toString();
    assertThat(Owner.hasEnded(self)).isFalse();
    String place = self.substring(0, self.indexOf('/'));
    String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
    String start = stat.substring(stat.lastIndexOf(')') + 2).split(" ")[19];
    String other = place + "/" + process.pid() + "/" + start + "/x/ticks";
    String another = place + "/" + process.pid() + "/" + (Long.parseLong(start) - 1) + "/x/ticks";
    assertThat(Owner.hasEnded(other)).isFalse();
    assertThat(Owner.hasEnded(another)).as("an earlier process of the same number").isTrue();
    process.destroyForcibly().waitFor();
    assertThat(Owner.hasEnded(other)).isTrue();
    assertThat(Owner.hasEnded("elsewhere/" + process.pid() + "/" + start + "/x/ticks")).isFalse();
  }

  /** A start in wall-clock time moves when the clock is set, so it says nothing about a living process. */
  @Test
  void leavesTheLeaseToALivingOwnerWhoseClockWasSet() throws Exception {
    Process process = new ProcessBuilder("sleep", "60").start();
    String self = new Owner().toString();
    String former = self.substring(0, self.indexOf('/')) + "/" + process.pid() + "/1700000000000/x";
    assertThat(Owner.hasEnded(former)).isFalse();
    process.destroyForcibly().waitFor();
    assertThat(Owner.hasEnded(former)).isTrue();
  }

  private Lease lease() {
    return new Lease(bucket, task, new Owner(), LENGTH, nanoTime::get);
  }

  private void advance(long seconds) {
    nanoTime.addAndGet(Duration.ofSeconds(seconds).toNanos());
  }
}
