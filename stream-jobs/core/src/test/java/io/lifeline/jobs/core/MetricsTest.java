package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MetricsTest {

  @Test
  void writesPrometheusText() {
    Metrics metrics = new Metrics();
    metrics.counter("b_total", "Things.", "task", "say \"hi\"\\\n").add(3);
    metrics.counter("b_total", "Things.", "task", "a").increment();
    metrics.gauge("a", "A level.", () -> 0.5);
    assertThat(metrics.text())
        .isEqualTo(
            """
            # HELP a A level.
            # TYPE a gauge
            a 0.5
            # HELP b_total Things.
            # TYPE b_total counter
            b_total{task="a"} 1
            b_total{task="say \\"hi\\"\\\\\\n"} 3
            """);
  }

  @Test
  void givesTheSameCounterForTheSameNameAndLabels() {
    Metrics metrics = new Metrics();
    metrics.counter("n_total", "N.", "task", "a").increment();
    assertThat(metrics.counter("n_total", "N.", "task", "a").value()).isEqualTo(1);
    assertThat(metrics.counter("n_total", "N.", "task", "b").value()).isZero();
  }
}
