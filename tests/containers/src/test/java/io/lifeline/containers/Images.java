package io.lifeline.containers;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The images of the tests, by the names that {@code scripts/images} has pulled or built them under; and their labels. */
final class Images {

  static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

  static final String TOOLS = "lifeline/tools";
  static final String CONNECT = "lifeline/connect";

  /** Whose containers these are, for {@code scripts/test-containers} to know what a run left that was killed. */
  static final String OWNER = System.getenv().getOrDefault("LIFELINE_TEST_OWNER", "nobody-0-0");

  static final Map<String, String> LABELS = Map.of("io.lifeline.test", OWNER);

  private static final List<String> LISTED = Command.run(List.of(ROOT + "/scripts/images", "--list")).lines().toList();

  private Images() {}

  /** The one image of that repository, with the version that this project uses. */
  static String of(String repository) {
    return LISTED.stream().filter(image -> image.startsWith(repository + ":")).findFirst().orElseThrow();
  }

  /** The stream jobs on one release of Java. */
  static String jobs(int java) {
    return "lifeline/jobs:java" + java;
  }
}
