package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GlobTest {

  @ParameterizedTest
  @CsvSource({
    "disk.*, disk.read.end, true", "disk.*, disk., true", "disk.*, disk, false",
    "*, '', true", "'', '', true", "'', a, false",
    "a.b, a.b, true", "a.b, axb, false", "a*a, a, false", "a*a, aa, true", "*.end, disk.read.end, true",
    "*read*end, disk.read.end, true", "*end*read*, disk.read.end, false",
    "a**b, ab, true", "*a*b, aab, true", "*ab*b, ab, false"
  })
  void aStarStandsForAnyText(String pattern, String name, boolean matches) {
    assertThat(Glob.of(pattern).matches(name)).isEqualTo(matches);
  }

  @Test
  void aPatternOfManyStarsTakesNoLongerThanItsLength() {
    assertThat(Glob.of("*a".repeat(400) + "*b").matches("a".repeat(60_000))).isFalse();
  }
}
