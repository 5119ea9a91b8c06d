package io.lifeline.jobs.core.bottleneck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The samples of two emitters, as a broker may deliver them, against all of them in the order of time. */
class GroupTest {

  private static final long SECOND_NS = 1_000_000_000;
  private static final BottleneckSettings SETTINGS =
      new BottleneckSettings(Map.of(), "all", SECOND_NS, 2 * SECOND_NS, 60 * SECOND_NS, 1);

  /** Blocks and use of each second of a real copy over a slow network, which began and ended within a second. */
  private static final double[][] READ =
      {{28, 0.004}, {17, 0.001}, {17, 0.001}, {11, 0.004}, {17, 0.001}, {17, 0.001}, {16, 0.001}, {1, 0.001}};
  private static final double[][] SEND =
      {{20, 0.282}, {17, 1.098}, {17, 1.070}, {11, 0.714}, {17, 1.080}, {17, 1.077}, {16, 1.084}, {9, 0.719}};
  private static final double[][] RECEIVE = {
      {7, 0.451}, {15, 0.993}, {16, 1.010}, {15, 0.983}, {16, 1.026}, {15, 0.971}, {16, 1.013}, {15, 0.983}, {9, 0.555}};
  private static final double[][] WRITE = {
      {7, 0.001}, {15, 0.001}, {16, 0.001}, {15, 0.008}, {16, 0.001}, {15, 0.001}, {16, 0.001}, {15, 0.001}, {9, 0.001}};

  private record Arrival(Sample sample, double second) {}

  private final List<Alert> alerts = new ArrayList<>();

  private static void samples(List<Arrival> to, String emitter, String component, double[][] seconds, double delayS) {
    for (int second = 1; second <= seconds.length; second++) {
      double count = seconds[second - 1][0];
      double busyNs = seconds[second - 1][1] * SECOND_NS;
      double deviation = busyNs / count / 10;
      Sample sample = new Sample("g", component, emitter, second * SECOND_NS, SECOND_NS, (long) count, count * 262_144,
          busyNs, deviation * deviation, 1);
      double isOverS = Math.min(second + 2, seconds.length); // the emitter's last batch completes all intervals
      to.add(new Arrival(sample, isOverS + delayS));
    }
  }

  private static List<Arrival> copy(String sender, String receiver, double delayS) {
    List<Arrival> arrivals = new ArrayList<>();
    samples(arrivals, sender, "disk-read", READ, 0);
    samples(arrivals, sender, "network@sender", SEND, 0);
    samples(arrivals, receiver, "disk-write", WRITE, delayS);
    samples(arrivals, receiver, "network", RECEIVE, delayS);
    arrivals.sort(Comparator.comparingDouble(Arrival::second).thenComparingLong(arrival -> arrival.sample.endNs()));
    return arrivals;
  }

  private Answer answer(List<Arrival> arrivals) {
    alerts.clear();
    Group group = new Group("g", SETTINGS);
    for (Arrival arrival : arrivals) {
      assertThat(group.add(arrival.sample, (long) (arrival.second * 1000), alerts::add)).isTrue();
      group = Group.decode(SETTINGS, group.encode()); // as if the job were restarted
    }
    group.judge((long) (arrivals.get(arrivals.size() - 1).second * 1000) + 3_000, alerts::add);
    return group.answer(alerts);
  }

  private static Answer answerOfReport(List<Arrival> arrivals) {
    List<Alert> alerts = new ArrayList<>();
    Group group = new Group("g", SETTINGS);
    arrivals.stream().map(Arrival::sample).sorted(Sample.ORDER)
        .forEach(sample -> group.add(sample, sample.endNs() / 1_000_000, alerts::add));
    group.judgeAll(alerts::add);
    return group.answer(alerts);
  }

  @ParameterizedTest
  @ValueSource(doubles = {-2.5, -2, -1.6, -1.1, -1, -0.9, -0.5, -0.1, 0, 0.1, 0.5, 0.9, 1, 1.1, 1.6, 2, 2.5})
  void theAnswerIsThatOfTheReportInWhateverOrderTheEmittersAreHeard(double delayS) {
    List<Arrival> arrivals = copy("a", "b", delayS);
    Answer answer = answer(arrivals);
    assertThat(answer.component()).isEqualTo("network");
    assertThat(answer).isEqualTo(answerOfReport(arrivals));
    assertThat(answer(copy("b", "a", delayS))).as("whichever incarnation is the lower").isEqualTo(answer);
  }

  /** The state of a group is one value on the broker. */
  @Test
  void whatWaitsIsBounded() {
    Group group = new Group("g", SETTINGS);
    for (int emitter = 0; emitter < 2_000; emitter++) {
      Sample sample = new Sample("g", "disk-read", "e" + emitter, SECOND_NS, SECOND_NS, 10, 10_000, 1e8, 1e12, 1);
      assertThat(group.add(sample, 1_000, alerts::add)).isTrue();
    }
    assertThat(group.encode().length).isLessThan(100_000);
  }

  @Test
  void anEmitterThatEndsIsWaitedForOnce() {
    Group group = new Group("g", SETTINGS);
    Sample last = sample("b", 1);
    group.add(last, 3_000, alerts::add);
    for (int second = 1; second <= 8; second++) {
      group.add(sample("a", second), (second + 2) * 1000, alerts::add);
      boolean isJudged = group.judge((second + 2) * 1000 + 999, alerts::add);
      assertThat(isJudged).as("second " + second + ", at " + (second + 3)).isFalse();
    }
    assertThat(group.judge(11_000, alerts::add)).as("all was judged on arrival").isFalse();
  }

  private static Sample sample(String emitter, int second) {
    return new Sample("g", "disk-read", emitter, second * SECOND_NS, SECOND_NS, 10, 10_000, 1e8, 1e12, 1);
  }
}
