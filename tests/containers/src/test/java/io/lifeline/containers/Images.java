package io.lifeline.containers;

import java.nio.file.Path;
import java.util.List;

/** The images of the tests, by the names that {@code scripts/images} has pulled or built them under. */
final class Images {

  static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

  static final String TOOLS = "lifeline/tools";
  static final String CONNECT = "lifeline/connect";

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
