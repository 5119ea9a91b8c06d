package io.lifeline.console.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LimitsTest {
  private static final Instant NOON = Instant.parse("2026-12-01T12:00:00Z");

  private static Limits types(String... types) {
    return new Limits(List.of(types), List.of(), Resolution.FULL, null);
  }

  @ParameterizedTest
  @CsvSource({
    "*, disk.*", "*, *", "disk.*, disk.read.start", "disk.*, disk.*", "disk.*, disk.read.*", "disk.*, disk.**",
    "*.start, disk.*.start", "disk.*.start, disk.read.*.start", "disk.read, disk.read"
  })
  void aPatternCoversWhatItMatches(String allowed, String asked) {
    assertThat(types(allowed).exceededBy(types(asked))).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "disk.*, *", "disk.*, disk*", "disk.*, net.send", "disk.read.*, disk.*", "disk.read, disk.rea*", "disk.?, disk.a",
    "disk.*.start, disk.*", "a*b, a*"
  })
  void aPatternDoesNotCoverMore(String allowed, String asked) {
    assertThat(types(allowed).exceededBy(types(asked)))
        .isEqualTo("event types " + asked + ", but only " + allowed + " is allowed");
  }

  @Test
  void eachOfSeveralPatternsCountsAndNoPatternIsAllTypes() {
    Limits limits = types("disk.*", "net.send");
    assertThat(limits.exceededBy(types("net.send", "disk.read"))).isNull();
    assertThat(limits.exceededBy(types("net.send", "net.receive"))).startsWith("event types net.receive, but only disk");
    assertThat(limits.exceededBy(types())).startsWith("event types *, but only");
    assertThat(types().exceededBy(limits)).isNull();
  }

  @Test
  void programsResolutionAndEndCount() {
    Limits limits = new Limits(List.of(), List.of("copy"), Resolution.of("sample:100"), NOON);
    assertThat(limits.exceededBy(limits)).isNull();
    assertThat(limits.exceededBy(new Limits(List.of(), List.of("co*"), Resolution.of("off"), NOON)))
        .isEqualTo("programs co*, but only copy is allowed");
    assertThat(limits.exceededBy(new Limits(List.of(), List.of("copy"), Resolution.of("sample:99"), NOON)))
        .isEqualTo("resolution sample:99, but at most sample:100 is allowed");
    assertThat(limits.exceededBy(new Limits(List.of(), List.of("copy"), Resolution.of("sample:101"), NOON))).isNull();
    assertThat(limits.exceededBy(new Limits(List.of(), List.of("copy"), Resolution.of("summary"), NOON.plusMillis(1))))
        .startsWith("an end at 2026-12-01T12:00:00.001Z");
    assertThat(limits.exceededBy(new Limits(List.of(), List.of("copy"), Resolution.of("summary"), null)))
        .startsWith("an end that is not given");
  }

  @Test
  void resolutionsAreOrderedByWhatTheyLetThrough() {
    List<Resolution> order = List.of(Resolution.of("off"), Resolution.of("summary"), Resolution.of("sample:1000000000"),
        Resolution.of("sample:2"), Resolution.of("sample:1"), Resolution.of("full"));
    assertThat(order).isSorted();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Full", "sample:", "sample:0", "sample:1000000001", "sample:-1", "sample:99999999999"})
  void otherResolutionsAreRefused(String text) {
    assertThatThrownBy(() -> Resolution.of(text)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is not a resolution");
  }
}
