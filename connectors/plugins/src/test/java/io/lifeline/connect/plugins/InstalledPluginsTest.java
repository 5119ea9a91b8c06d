package io.lifeline.connect.plugins;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.connect.runtime.isolation.DelegatingClassLoader;
import org.apache.kafka.connect.runtime.isolation.PluginClassLoader;
import org.apache.kafka.connect.runtime.isolation.PluginScanner;
import org.apache.kafka.connect.runtime.isolation.PluginSource;
import org.apache.kafka.connect.runtime.isolation.PluginUtils;
import org.apache.kafka.connect.runtime.isolation.ReflectionScanner;
import org.apache.kafka.connect.runtime.isolation.ServiceLoaderScanner;
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
    foundByServiceFile = installed(new ServiceLoaderScanner());
  }

  @Test
  void everyPluginIsFoundByItsServiceFileAndByNothingElse() throws IOException {
    Map<String, String> found = installed(new ReflectionScanner());
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

  /** Our plugins with their versions, as that scanner of Connect's finds them. The class path is searched for none. */
  private static Map<String, String> installed(PluginScanner scanner) throws IOException {
    DelegatingClassLoader worker = new DelegatingClassLoader();
    Set<PluginSource> sources = new HashSet<>();
    for (Path component : PluginUtils.pluginLocations(pluginPath.toString(), true)) {
      sources.add(PluginUtils.isolatedPluginSource(component, worker, PluginClassLoader::new));
    }
    Map<String, String> versions = new TreeMap<>();
    scanner.discoverPlugins(sources).forEach(plugin -> versions.put(plugin.className(), plugin.version()));
    return versions;
  }
}
