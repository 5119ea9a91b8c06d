package io.lifeline.connect.plugins;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.connect.runtime.isolation.PluginClassLoader;
import org.apache.kafka.connect.runtime.isolation.PluginDesc;
import org.apache.kafka.connect.runtime.isolation.Plugins;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The zips, unpacked into a plugin.path and loaded by Connect's own class loaders. */
class InstalledPluginsTest {

  private static final Pattern OF_THE_WORKER = Pattern.compile("(kafka-|connect-|slf4j-|zstd-jni-).*");

  @TempDir static Path pluginPath;

  private static Map<String, String> foundByServiceFile;

  @BeforeAll
  static void unpack() throws IOException {
    List<Path> zips = Components.zips();
    assertThat(zips).as("packed by mvn package, before this module is tested").hasSize(2);
    for (Path zip : zips) {
      Components.unpack(zip, pluginPath);
    }
    foundByServiceFile = installed("service_load");
  }

  @Test
  void everyPluginIsFoundByItsServiceFileAndByNothingElse() {
    Map<String, String> found = installed("hybrid_fail");
    assertThat(found.keySet())
        .containsExactlyInAnyOrder(
            "io.lifeline.connect.archive.ArchiveSink",
            "io.lifeline.connect.batch.BatchConverter",
            "io.lifeline.connect.nats.JetStreamSource",
            "io.lifeline.connect.nats.NatsSink");
    assertThat(foundByServiceFile).isEqualTo(found);
  }

  @Test
  void everyPluginSaysWhichReleaseItIs() {
    assertThat(foundByServiceFile.values()).allMatch(version -> version.matches("\\d+\\.\\d+\\.\\d+.*"));
  }

  @Test
  void pluginsBringNoClassesOfTheWorker() throws IOException {
    try (Stream<Path> jars = Files.walk(pluginPath)) {
      assertThat(jars.map(jar -> jar.getFileName().toString()).filter(OF_THE_WORKER.asMatchPredicate())).isEmpty();
    }
  }

  @Test
  void aComponentIsAFolderWithManifestLibrariesAndDocumentation() throws IOException {
    for (Path component : components()) {
      JsonNode manifest = new ObjectMapper().readTree(component.resolve("manifest.json").toFile());
      String name = manifest.path("owner").path("username").asText() + "-" + manifest.path("name").asText();
      assertThat(component.getFileName()).hasToString(name + "-" + manifest.path("version").asText());
      assertThat(component.resolve("lib")).isNotEmptyDirectory();
      assertThat(component.resolve("doc")).isDirectoryContaining("glob:**/{README,CONFIGURATION}.md");
      assertThat(component.resolve("doc/LICENSE")).isNotEmptyFile();
    }
  }

  private static List<Path> components() throws IOException {
    try (Stream<Path> folders = Files.list(pluginPath)) {
      return folders.sorted().toList();
    }
  }

  /** Our plugins with their versions, as that mode of discovery finds them apart from the class path. */
  private static Map<String, String> installed(String discovery) {
    Plugins plugins = new Plugins(Map.of("plugin.path", pluginPath.toString(), "plugin.discovery", discovery));
    Set<PluginDesc<?>> all = new TreeSet<>();
    all.addAll(plugins.connectors());
    all.addAll(plugins.converters());
    all.addAll(plugins.headerConverters());
    all.addAll(plugins.transformations());
    all.addAll(plugins.predicates());
    Map<String, String> versions = new TreeMap<>();
    for (PluginDesc<?> plugin : all) {
      if (plugin.loader() instanceof PluginClassLoader) {
        versions.put(plugin.className(), plugin.version());
      }
    }
    return versions;
  }
}
