package io.lifeline.connect.testing;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A plugin folder as below {@code plugin.path}, filled from this test's class path. */
public final class PluginFolder {

  private PluginFolder() {}

  /**
   * Copies matching entries of the class path: jars unchanged, class folders as jars.
   *
   * @param entries substrings of the paths
   */
  public static void fill(Path folder, Pattern entries) throws IOException {
    Files.createDirectories(folder);
    int number = 0;
    for (String entry : classPath()) {
      if (entries.matcher(entry).find()) {
        Path source = Path.of(entry);
        if (Files.isDirectory(source)) {
          jar(source, folder.resolve("classes-" + number++ + ".jar"));
        } else {
          Files.copy(source, folder.resolve(source.getFileName()));
        }
      }
    }
  }

  /** This test's class path without matching entries, for a process that loads those as plugins. */
  public static String classPathWithout(Pattern entries) {
    return String.join(
        File.pathSeparator, classPath().stream().filter(entry -> !entries.matcher(entry).find()).toList());
  }

  private static List<String> classPath() {
    String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return Arrays.asList(path.split(File.pathSeparator));
  }

  private static void jar(Path classes, Path jar) throws IOException {
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file);
        Stream<Path> files = Files.walk(classes).filter(Files::isRegularFile)) {
      files.forEach(
          path -> {
            try {
              out.putNextEntry(new JarEntry(classes.relativize(path).toString()));
              Files.copy(path, out);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
    }
  }
}
