package io.lifeline.jobs.core.bottleneck;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.bottleneck.Verdict.Reason;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RuleTest {

  private static final double UNEVENNESS = 0.4;

  /** Returns a component with the spread of a steady one; rates and throughput have the same arbitrary unit. */
  private static ComponentStats component(double rate, double throughput, double unevenness) {
    return new ComponentStats(60, level(rate), level(unevenness), level(throughput), throughput / rate);
  }

  private static Level level(double value) {
    return new Level(60, Math.log(value), 0.01);
  }

  private static Verdict judge(Map<String, ComponentStats> now) {
    return Rule.judge(now, Map.of());
  }

  @Test
  void theSlowestIsNamed() {
    Verdict verdict = judge(Map.of("read", component(9, 4, UNEVENNESS), "write", component(4, 4, UNEVENNESS)));
    assertThat(verdict.component()).isEqualTo("write");
    assertThat(verdict.reason()).isEqualTo(Reason.SLOWEST);
    assertThat(verdict.chance()).isLessThan(0.01);
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

  /** A real transfer with 100 ms and losses: rates vary, and each follows from the one before, so a test knows little. */
  @Test
  void oneThatIdlesIsNotTakenForABusyOneWhoseRateVaries() {
    ComponentStats network =
        new ComponentStats(16, new Level(2, Math.log(2.83), 0.1), level(UNEVENNESS), level(2.83), 1.0);
    ComponentStats write = new ComponentStats(16, level(7.76), level(UNEVENNESS), level(2.82), 0.37);
    Verdict verdict = judge(Map.of("network", network, "write", write));
    assertThat(verdict.component()).isEqualTo("network");
    assertThat(verdict.reason()).isEqualTo(Reason.SLOWEST);
    assertThat(verdict.chance()).as("by speed alone").isGreaterThan(0.01);
    ComponentStats fast = new ComponentStats(16, new Level(2, Math.log(9), 0.1), level(UNEVENNESS), level(2.83), 1.0);
    assertThat(judge(Map.of("network", fast, "write", write)).component()).isEqualTo("network");
  }

  @Test
  void fewSamplesAreNoAnswer() {
    ComponentStats few = new ComponentStats(4, level(1), level(UNEVENNESS), level(1), 1);
    assertThat(judge(Map.of("read", few, "write", component(4, 4, UNEVENNESS))).reason())
        .isEqualTo(Reason.TOO_LITTLE);
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

  /** A disk that four streams write to is busy for more than half of the time. */
  @Test
  void thatTheOthersOperationsOverlapDoesNotHideIt() {
    Map<String, ComponentStats> before =
        Map.of("network", component(0.8, 3.2, UNEVENNESS), "disk.write", component(1.1, 3.2, UNEVENNESS));
    Map<String, ComponentStats> after =
        Map.of("network", component(1.5, 1.6, 3 * UNEVENNESS), "disk.write", component(1.1, 1.6, UNEVENNESS));
    assertThat(after.get("disk.write").busy()).isGreaterThan(1);
    assertThat(Rule.judge(after, before).component()).isEqualTo("network");
  }

  @Test
  void noneIsNamedWhenNothingThatIsMeasuredExplainsTheFall() {
    Map<String, ComponentStats> before =
        Map.of("network", component(2, 3.2, UNEVENNESS), "disk.write", component(0.8, 3.2, UNEVENNESS));
    Map<String, ComponentStats> after =
        Map.of("network", component(2, 1.6, UNEVENNESS), "disk.write", component(0.8, 1.6, UNEVENNESS));
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
