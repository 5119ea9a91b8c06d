package io.lifeline.containers;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The images of the tests, by the names that {@code scripts/images} has pulled or built them under; and their labels. */
final class Images {

  static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

  /** Whose containers these are, for {@code scripts/test-containers} to remove what a killed run left. */
  static final String OWNER = System.getenv().getOrDefault("LIFELINE_TEST_OWNER", "nobody-0-0");

  /** For what only waits, on a machine that others use as well. */
  static final Duration TIMEOUT = Duration.ofMinutes(4);

  static final Map<String, String> LABELS = Map.of("io.lifeline.test", OWNER);

  /** Tests are short: what the second compiler takes to make code faster is never earned back. */
  static final Map<String, String> QUICK_START = Map.of("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1");

  private static final List<String> LISTED = Command.run(List.of(ROOT + "/scripts/images", "--list")).lines().toList();

  /** Tags that no other clone moves while these tests run, by the images' names. */
  private static final Map<String, String> TAGS =
      Arrays.stream(System.getenv().getOrDefault("LIFELINE_IMAGES", "").split(" "))
          .map(pair -> pair.split("="))
          .filter(pair -> pair.length == 2)
          .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));

  private Images() {}

  /** The one image of that repository, with the version that this project uses. */
  static String of(String repository) {
    return LISTED.stream().filter(image -> image.startsWith(repository + ":")).findFirst().orElseThrow();
  }

  /** The emitter's library and commands. */
  static String tools() {
    return own("lifeline/tools");
  }

  /** The stream jobs on one release of Java. */
  static String jobs(int java) {
    return own("lifeline/jobs:java" + java);
  }

  /** What the files of compose/ take for our images, by the variables in them. */
  static Map<String, String> variables() {
    return Map.of("TOOLS_IMAGE", tools(), "JOBS_IMAGE", jobs(21), "CONNECT_IMAGE", own("lifeline/connect"));
  }

  private static String own(String name) {
    return TAGS.getOrDefault(name, name);
  }
}
