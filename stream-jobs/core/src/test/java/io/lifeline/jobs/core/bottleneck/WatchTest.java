package io.lifeline.jobs.core.bottleneck;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A component that is measured at both ends: what one end waits for may be the other end's disk. */
class WatchTest {
  private static final long SECOND = 1_000_000_000L;
  private static final double MB = 1e6;

  private final Watch watch = new Watch(60 * SECOND);

  /** Adds ten samples of 8 MB each per component; busy is the share of time that each works. */
  private Verdict add(double read, double send, double receive, double write) {
    Verdict verdict = null;
    for (int second = 1; second <= 10; second++) {
      sample("disk-read", second, read);
      sample("network@sender", second, send);
      sample("network", second, receive);
      verdict = sample("disk-write", second, write);
    }
    return verdict;
  }

  private Verdict sample(String component, int second, double busy) {
    double busyNs = busy * SECOND * (1 + 0.01 * (second % 3));
    return watch.add(List.of(
        new Sample("g", component, component, second * SECOND, SECOND, 100, 8 * MB, busyNs, busyNs * busyNs / 1e6, 1)));
  }

  @Test
  void theReceiverWaitsForTheSendersDisk() {
    Verdict verdict = add(0.97, 0.01, 0.97, 0.02);
    assertThat(verdict.component()).isEqualTo("disk-read");
    assertThat(watch.traits().keySet()).containsExactly("disk-read", "disk-write", "network");
    assertThat(watch.traits().get("network").use().mean()).isLessThan(0.02);
  }

  @Test
  void bothEndsWaitForTheNetwork() {
    assertThat(add(0.05, 0.96, 0.97, 0.02).component()).isEqualTo("network");
  }

  @Test
  void theSenderWaitsForTheReceiversDisk() {
    assertThat(add(0.05, 0.96, 0.01, 0.97).component()).isEqualTo("disk-write");
  }

  /** Its first reads are answered by read-ahead: they are fast, but hardly any work. */
  @Test
  void aFastStartHidesNoSlowComponent() {
    Verdict verdict = null;
    for (int second = 1; second <= 10; second++) {
      sample("disk-read", second, second == 1 ? 0.005 : 0.99);
      verdict = sample("disk-write", second, 0.6);
    }
    assertThat(verdict.component()).isEqualTo("disk-read");
  }

  @Test
  void oneEndIsEnough() {
    Verdict verdict = null;
    for (int second = 1; second <= 10; second++) {
      sample("network@sender", second, 0.97);
      verdict = sample("disk-read", second, 0.1);
    }
    assertThat(verdict.component()).isEqualTo("network");
  }

  @Test
  void bothEndsSurviveARestart() {
    add(0.97, 0.01, 0.97, 0.02);
    StateWriter out = new StateWriter();
    watch.encode(out);
    Watch again = Watch.decode(60 * SECOND, new StateReader(out.toBytes()));
    assertThat(again.verdict()).isEqualTo(watch.verdict());
    assertThat(again.knownNs()).isEqualTo(10 * SECOND);
  }
}
