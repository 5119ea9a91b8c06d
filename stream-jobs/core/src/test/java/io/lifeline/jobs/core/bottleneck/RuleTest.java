package io.lifeline.jobs.core.bottleneck;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.bottleneck.Verdict.Reason;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RuleTest {

  private static final double UNEVENNESS = 0.4;
  private static final Level STEADY = level(1);

  /** Returns a component with the spread of a steady one; rates and throughput have the same arbitrary unit. */
  private static ComponentStats component(double rate, double throughput, double unevenness) {
    return component(1, rate, throughput, unevenness);
  }

  /** @param rate of all threads */
  private static ComponentStats component(double threads, double rate, double throughput, double unevenness) {
    double use = throughput / rate;
    return new ComponentStats(60, level(rate), level(unevenness), level(throughput), use(use), threads, use, use);
  }

  private static ComponentStats ofUnknownThreads(double busy) {
    double use = Math.min(1, busy);
    return new ComponentStats(60, STEADY, STEADY, STEADY, use(use), 0, use, use);
  }

  private static ComponentStats samples(int count, double use, double spread) {
    return new ComponentStats(
        count, STEADY, STEADY, STEADY, new Level(count, use, spread * spread), 1, use - spread, use + spread);
  }

  private static Level level(double value) {
    return new Level(60, Math.log(value), 0.01);
  }

  private static Level use(double value) {
    return new Level(60, value, 0.0025);
  }

  private static Verdict judge(Map<String, ComponentStats> now) {
    return Rule.judge(now, Map.of());
  }

  @Test
  void theBusiestIsNamed() {
    Verdict verdict = judge(Map.of("read", component(9, 4, UNEVENNESS), "write", component(4, 4, UNEVENNESS)));
    assertThat(verdict.component()).isEqualTo("write");
    assertThat(verdict.reason()).isEqualTo(Reason.SLOWEST);
    assertThat(verdict.chance()).isLessThan(0.01);
  }

  /** One reader of 200 a second, four writers of 83 each. */
  @Test
  void manySlowThreadsAreNotTakenForTheLimit() {
    assertThat(judge(Map.of("read", component(1, 200, 198, UNEVENNESS), "write", component(4, 333, 198, UNEVENNESS)))
        .component()).isEqualTo("read");
    assertThat(judge(Map.of("read", component(8, 400, 247, UNEVENNESS), "write", component(1, 250, 247, UNEVENNESS)))
        .component()).isEqualTo("write");
  }

  @Test
  void oneThatIsOnlyATenthSlowerIsNotThoughItIsForSure() {
    Verdict verdict =
        judge(
            Map.of(
                "read", component(5, 4, UNEVENNESS),
                "write", component(4.5, 4, UNEVENNESS),
                "network", component(20, 4, UNEVENNESS)));
    assertThat(verdict.component()).isNull();
    assertThat(verdict.reason()).isEqualTo(Reason.ALIKE);
    assertThat(verdict.alike()).containsExactly("write", "read");
  }

  @Test
  void oneThatIdlesIsNotHoweverSlow() {
    Verdict verdict = judge(Map.of("read", component(90, 1, UNEVENNESS), "write", component(4, 1, UNEVENNESS)));
    assertThat(verdict.reason()).isEqualTo(Reason.IDLE);
    assertThat(verdict.component()).isNull();
  }

  /** A real transfer with 100 ms and losses: rates vary, and each follows from the one before. */
  @Test
  void oneThatIdlesIsNotTakenForABusyOneWhoseRateVaries() {
    Level varying = new Level(2, Math.log(2.83), 0.1);
    ComponentStats network =
        new ComponentStats(16, varying, level(UNEVENNESS), level(2.83), new Level(16, 0.99, 1e-4), 1, 0.97, 1);
    ComponentStats write =
        new ComponentStats(16, level(7.76), level(UNEVENNESS), level(2.82), use(0.37), 1, 0.3, 0.45);
    Verdict verdict = judge(Map.of("network", network, "write", write));
    assertThat(verdict.component()).isEqualTo("network");
    assertThat(verdict.reason()).isEqualTo(Reason.SLOWEST);
    assertThat(verdict.chance()).isLessThan(1e-6);
    assertThat(varying.chanceOfBeingBelow(level(7.76))).as("by rates alone").isGreaterThan(0.01);
  }

  /** Long stalls that are rare: the mean is clear, but two of five samples are far from it. */
  @Test
  void anAnswerThatCouldBeChanceIsNone() {
    Verdict verdict = judge(Map.of("read", samples(6, 0.45, 0.05), "write", samples(6, 0.75, 0.4)));
    assertThat(verdict.component()).isNull();
    assertThat(verdict.reason()).isEqualTo(Reason.ALIKE);
  }

  /** One sample was disturbed, and yet each is far from all of the other component. */
  @Test
  void componentsThatAreFarApartInEachSampleAreNotAlike() {
    ComponentStats disturbed = new ComponentStats(5, STEADY, STEADY, STEADY, new Level(5, 0.85, 2), 1, 0.3, 1);
    assertThat(judge(Map.of("read", samples(5, 0.01, 0.001), "network", disturbed)).reason())
        .isEqualTo(Reason.TOO_LITTLE);
  }

  @Test
  void ofUnknownThreadsNothingIsConcluded() {
    ComponentStats busy = component(4, 4, UNEVENNESS);
    assertThat(judge(Map.of("read", component(9, 4, UNEVENNESS), "write", ofUnknownThreads(0.98))).reason())
        .as("with one thread it is the limit, with eight it idles").isEqualTo(Reason.THREADS_UNKNOWN);
    assertThat(judge(Map.of("read", busy, "write", ofUnknownThreads(2.3))).reason())
        .isEqualTo(Reason.THREADS_UNKNOWN);
    assertThat(judge(Map.of("read", busy, "write", ofUnknownThreads(0.3))).component())
        .as("it idles with any number").isEqualTo("read");
    assertThat(judge(Map.of("read", ofUnknownThreads(0.1), "write", ofUnknownThreads(0.3))).reason())
        .isEqualTo(Reason.IDLE);
  }

  @Test
  void fewSamplesAreNoAnswer() {
    assertThat(judge(Map.of("read", samples(4, 0.97, 0.01), "write", samples(60, 0.7, 0.05))).reason())
        .isEqualTo(Reason.TOO_LITTLE);
  }

  @Test
  void twoAreEnoughWhereEachOfThemIsClearAndTheNoiseIsKnown() {
    ComponentStats noise = samples(20, 0.5, 0.04);
    Map<String, ComponentStats> now = Map.of("read", samples(2, 0.97, 0.04).withNoiseOf(noise),
        "write", samples(2, 0.4, 0.04).withNoiseOf(noise));
    assertThat(judge(now).component()).isEqualTo("read");
    assertThat(judge(now).chance()).isLessThan(0.001);
    assertThat(Rule.clearLimit(Map.of("read", samples(2, 0.97, 0.2), "write", samples(2, 0.4, 0.2)))).isNull();
    assertThat(Rule.clearLimit(Map.of("read", samples(1, 0.97, 0), "write", samples(2, 0.4, 0)))).isNull();
  }

  /** The paper's Figures 4b and 5: network reads became half as frequent, faster on average, and uneven. */
  @Test
  void theOneThatBecameUnevenIsNamedWhenNoneThatBecameSlowerExplainsTheFall() {
    Map<String, ComponentStats> before =
        Map.of("network", component(3.2, 3.2, UNEVENNESS), "disk.write", component(4.4, 3.2, UNEVENNESS));
    Map<String, ComponentStats> after =
        Map.of("network", component(6, 1.6, 3 * UNEVENNESS), "disk.write", component(4.4, 1.6, UNEVENNESS));
    Verdict verdict = Rule.judge(after, before);
    assertThat(verdict.component()).isEqualTo("network");
    assertThat(verdict.reason()).isEqualTo(Reason.UNEVEN);
  }

  /** A disk that four streams write to has work for more than one thread. */
  @Test
  void thatTheOthersOperationsOverlapDoesNotHideIt() {
    Map<String, ComponentStats> before =
        Map.of("network", component(4, 3.2, 3.2, UNEVENNESS), "disk.write", component(4, 4.4, 3.2, UNEVENNESS));
    Map<String, ComponentStats> after =
        Map.of("network", component(4, 6, 1.6, 3 * UNEVENNESS), "disk.write", component(4, 4.4, 1.6, UNEVENNESS));
    assertThat(4 * after.get("disk.write").use().mean()).isGreaterThan(1);
    assertThat(Rule.judge(after, before).component()).isEqualTo("network");
  }

  @Test
  void noneIsNamedWhenNothingThatIsMeasuredExplainsTheFall() {
    Map<String, ComponentStats> before =
        Map.of("network", component(4, 3.2, UNEVENNESS), "disk.write", component(3.2, 3.2, UNEVENNESS));
    Map<String, ComponentStats> after =
        Map.of("network", component(4, 2.2, UNEVENNESS), "disk.write", component(3.2, 2.2, UNEVENNESS));
    Verdict verdict = Rule.judge(after, before);
    assertThat(verdict.reason()).isEqualTo(Reason.UNEXPLAINED);
    assertThat(verdict.component()).isNull();
  }

  /** The paper's Figure 3d. */
  @Test
  void aFallThatTheSlowestExplainsIsPutDownToIt() {
    Map<String, ComponentStats> before =
        Map.of("network", component(9, 4.4, UNEVENNESS), "disk.write", component(4.4, 4.4, UNEVENNESS));
    Map<String, ComponentStats> after =
        Map.of("network", component(2, 2, 3 * UNEVENNESS), "disk.write", component(4.4, 2, UNEVENNESS));
    Verdict verdict = Rule.judge(after, before);
    assertThat(verdict.component()).isEqualTo("network");
    assertThat(verdict.reason()).isEqualTo(Reason.SLOWEST);
  }
}
