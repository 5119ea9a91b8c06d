package io.lifeline.jobs.core.config;

import io.lifeline.jobs.core.DurationText;
import io.lifeline.jobs.core.config.ConfigKey.ValueType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The types of settings. */
final class ValueTypes {

  private static final Pattern SIZE = Pattern.compile("([0-9]{1,15})(B|KiB|MiB|GiB)?");

  static final ValueType<String> TEXT = ValueType.of("text", text -> text);
  static final ValueType<Path> PATH = ValueType.of("a path", Path::of);
  static final ValueType<List<Path>> PATHS =
      ValueType.of("a comma-separated list of paths", text -> list(text).stream().map(Path::of).toList());
  static final ValueType<Duration> DURATION_TYPE =
      ValueType.of("a number with ms, s, m, h or d, above 0", ValueTypes::duration);
  static final ValueType<Long> SIZE_TYPE =
      ValueType.of("a number of bytes above 0, optionally with KiB, MiB or GiB", ValueTypes::size);
  static final ValueType<BrokerUrl> BROKER_URL = ValueType.of(BrokerUrl.ALLOWED, BrokerUrl::parse);
  static final ValueType<List<String>> LIST = ValueType.of("a comma-separated list", ValueTypes::list);

  private ValueTypes() {}

  static ValueType<Integer> integer(int min, int max) {
    return ValueType.of(
        "a number from " + min + " to " + max,
        text -> {
          int value = Integer.parseInt(text);
          require(value >= min && value <= max);
          return value;
        });
  }

  static ValueType<Boolean> bool() {
    return ValueType.of(
        "true or false",
        text -> {
          require(text.equals("true") || text.equals("false"));
          return text.equals("true");
        });
  }

  /** A list of distinct entries, each one of the choices. */
  static ValueType<List<String>> someOf(String... choices) {
    Set<String> known = Set.of(choices);
    return ValueType.of(
        "a comma-separated list of " + String.join(", ", choices),
        text -> {
          List<String> entries = list(text);
          require(known.containsAll(entries) && entries.stream().distinct().count() == entries.size());
          return entries;
        });
  }

  /** A list whose entries all match the pattern. */
  static ValueType<List<String>> listMatching(String allowed, String entryPattern) {
    Pattern pattern = Pattern.compile(entryPattern);
    return ValueType.of(
        allowed,
        text -> {
          List<String> entries = list(text);
          require(entries.stream().allMatch(entry -> pattern.matcher(entry).matches()));
          return entries;
        });
  }

  static ValueType<String> matching(String allowed, String pattern) {
    Pattern compiled = Pattern.compile(pattern);
    return ValueType.of(
        allowed,
        text -> {
          require(compiled.matcher(text).matches());
          return text;
        });
  }

  private static List<String> list(String text) {
    if (text.isBlank()) {
      return List.of();
    }
    List<String> entries = Arrays.stream(text.split(",", -1)).map(String::strip).toList();
    require(entries.stream().noneMatch(String::isEmpty));
    return entries;
  }

  private static Duration duration(String text) {
    Duration duration = DurationText.parse(text);
    require(!duration.isZero());
    return duration;
  }

  private static long size(String text) {
    Matcher matcher = SIZE.matcher(text);
    require(matcher.matches());
    String unit = matcher.group(2) == null ? "B" : matcher.group(2);
    int shift = List.of("B", "KiB", "MiB", "GiB").indexOf(unit) * 10;
    long number = Long.parseLong(matcher.group(1));
    require(number > 0 && number <= Long.MAX_VALUE >> shift);
    return number << shift;
  }

  private static void require(boolean condition) {
    if (!condition) {
      throw new IllegalArgumentException();
    }
  }
}
