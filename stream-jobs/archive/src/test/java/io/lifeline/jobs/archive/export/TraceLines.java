package io.lifeline.jobs.archive.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Collects the records of a trace as lines of text, and checks what every trace format demands. */
final class TraceLines {
  private record Begun(String path, String name, long time, String arguments) {}

  private final List<String> lines = new ArrayList<>();
  private final Map<Object, Begun> open = new LinkedHashMap<>();
  private long now;

  private void at(long time) {
    assertThat(time).as("times are in order and not negative").isGreaterThanOrEqualTo(now);
    now = time;
  }

  void begin(Object track, String path, String name, long time, String arguments) {
    at(time);
    assertThat(open.put(track, new Begun(path, name, time, arguments))).as("slices of a lane do not overlap").isNull();
  }

  void end(Object track, long time, String arguments) {
    at(time);
    Begun begun = open.remove(track);
    assertThat(begun).as("an end has a beginning").isNotNull();
    lines.add("slice " + begun.path + ": " + begun.name + " " + begun.time + "+" + (time - begun.time)
        + begun.arguments + arguments);
  }

  void instant(String path, String name, long time, String arguments) {
    at(time);
    lines.add("instant " + path + ": " + name + " " + time + arguments);
  }

  void counter(String path, long time, String value) {
    at(time);
    lines.add("counter " + path + ": " + time + " " + value);
  }

  List<String> finish() {
    open.values().forEach(begun ->
        lines.add("open " + begun.path + ": " + begun.name + " " + begun.time + begun.arguments));
    return lines;
  }
}
