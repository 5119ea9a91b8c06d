package io.lifeline.jobs.archive.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the three files of a Paraver trace by the rules of its format, and checks each record. */
final class ParaverTrace {
  private static final Pattern HEADER = Pattern.compile(
      "#Paraver \\(\\d\\d/\\d\\d/\\d\\d at \\d\\d:\\d\\d\\):(\\d+)_ns:(\\d+)\\(([\\d,]+)\\):(\\d+):(.*)");
  private static final Pattern APPLICATION = Pattern.compile("(\\d+)\\(([\\d:,]+)\\)(:|$)");

  final List<String> records = new ArrayList<>();
  final Map<Long, String> types = new HashMap<>();
  final List<String> threads = new ArrayList<>();
  final long duration;

  private final Map<Long, Set<Long>> values = new HashMap<>();
  private final Set<Long> states = new HashSet<>();
  private final Set<String> objects = new HashSet<>();

  private ParaverTrace(List<String> trace, List<String> names, List<String> rows) {
    duration = header(trace.get(0));
    names(names);
    rows(rows);
    long before = 0;
    Map<String, Long> stateUntil = new HashMap<>();
    for (String record : trace.subList(1, trace.size())) {
      long[] numbers = Pattern.compile(":").splitAsStream(record).mapToLong(Long::parseUnsignedLong).toArray();
      assertThat(objects).as(record).contains(object(numbers, 1));
      long time = numbers[5];
      assertThat(time).as("records are in order: " + record).isBetween(before, duration);
      before = time;
      switch ((int) numbers[0]) {
        case 1 -> {
          assertThat(numbers).as(record).hasSize(8);
          assertThat(numbers[6]).as(record).isBetween(time + 1, duration);
          assertThat(states).as(record).contains(numbers[7]);
          assertThat(stateUntil.getOrDefault(object(numbers, 1), time)).as("states follow each other").isEqualTo(time);
          stateUntil.put(object(numbers, 1), numbers[6]);
        }
        case 2 -> {
          assertThat(numbers.length % 2).as(record).isZero();
          assertThat(numbers.length).as(record).isGreaterThanOrEqualTo(8);
          for (int i = 6; i < numbers.length; i += 2) {
            assertThat(types).as(record).containsKey(numbers[i]);
            assertThat(values.get(numbers[i]) == null || values.get(numbers[i]).contains(numbers[i + 1])).as(record)
                .isTrue();
            assertThat(numbers[i + 1]).as(record).isNotNegative();
          }
        }
        case 3 -> {
          assertThat(numbers).as(record).hasSize(15);
          assertThat(objects).as(record).contains(object(numbers, 7));
          assertThat(numbers[6]).as(record).isGreaterThanOrEqualTo(time);
          assertThat(numbers[11]).as(record).isBetween(time, duration);
          assertThat(numbers[12]).as(record).isBetween(numbers[11], duration);
        }
        default -> throw new AssertionError(record);
      }
      records.add(record);
    }
  }

  static ParaverTrace read(Path prv) throws Exception {
    String name = prv.getFileName().toString().replace(".prv", "");
    return new ParaverTrace(Files.readAllLines(prv), Files.readAllLines(prv.resolveSibling(name + ".pcf")),
        Files.readAllLines(prv.resolveSibling(name + ".row")));
  }

  /** Returns {@code cpu:application:task:thread}. */
  private static String object(long[] numbers, int at) {
    return numbers[at] + ":" + numbers[at + 1] + ":" + numbers[at + 2] + ":" + numbers[at + 3];
  }

  private long header(String line) {
    Matcher header = HEADER.matcher(line);
    assertThat(header.matches()).as(line).isTrue();
    int nodes = Integer.parseInt(header.group(2));
    assertThat(header.group(3).split(",")).as(line).hasSize(nodes);
    Matcher application = APPLICATION.matcher(header.group(5));
    int applications = 0;
    while (application.lookingAt()) {
      applications++;
      String[] tasks = application.group(2).split(",");
      assertThat(tasks).as(line).hasSize(Integer.parseInt(application.group(1)));
      for (int task = 1; task <= tasks.length; task++) {
        String[] task1 = tasks[task - 1].split(":");
        assertThat(Integer.parseInt(task1[1])).as(line).isBetween(1, nodes);
        for (int thread = 1; thread <= Integer.parseInt(task1[0]); thread++) {
          objects.add("0:" + applications + ":" + task + ":" + thread); // 0: the processor is unknown
        }
      }
      application.region(application.end(), header.group(5).length());
    }
    assertThat(application.regionStart()).as(line).isEqualTo(header.group(5).length());
    assertThat(applications).as(line).isEqualTo(Integer.parseInt(header.group(4)));
    return Long.parseLong(header.group(1));
  }

  private void names(List<String> lines) {
    String section = "";
    long type = 0;
    for (String line : lines) {
      String[] words = line.split(" +", 3);
      if (line.matches("DEFAULT_OPTIONS|DEFAULT_SEMANTIC|STATES|STATES_COLOR|EVENT_TYPE|VALUES")) {
        section = line;
      } else if (line.isEmpty() || section.startsWith("DEFAULT")) {
        continue;
      } else if (section.equals("STATES")) {
        assertThat(states.add(Long.valueOf(words[0]))).isTrue();
      } else if (section.equals("STATES_COLOR")) {
        assertThat(states).contains(Long.valueOf(words[0]));
        assertThat(words[1]).matches("\\{\\d+,\\d+,\\d+}");
      } else if (section.equals("EVENT_TYPE")) {
        assertThat(words[0]).isEqualTo("0");
        type = Long.parseLong(words[1]);
        assertThat(types.put(type, words[2])).as(line).isNull();
      } else {
        assertThat(section).as(line).isEqualTo("VALUES");
        values.computeIfAbsent(type, key -> new HashSet<>()).add(Long.valueOf(words[0]));
      }
    }
  }

  private void rows(List<String> lines) {
    int at = 0;
    while (at < lines.size()) {
      if (lines.get(at).isEmpty()) {
        at++;
        continue;
      }
      String[] level = lines.get(at).split(" ");
      assertThat(level).as(lines.get(at)).hasSize(4).startsWith("LEVEL");
      int size = Integer.parseInt(level[3]);
      if (level[1].equals("THREAD")) {
        threads.addAll(lines.subList(at + 1, at + 1 + size));
      }
      at += 1 + size;
    }
    assertThat(threads).hasSameSizeAs(objects);
  }
}
