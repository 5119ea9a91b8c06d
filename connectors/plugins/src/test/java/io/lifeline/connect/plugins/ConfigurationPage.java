package io.lifeline.connect.plugins;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.ConfigKey;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.sink.SinkConnector;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.storage.Converter;

/** {@code connectors/CONFIGURATION.md}: every setting of every plugin, as the plugins themselves declare them. */
final class ConfigurationPage {

  private static final String OWN = "io.lifeline.";

  private record Plugin(String kind, Class<?> type, ConfigDef settings) {}

  private ConfigurationPage() {}

  /** The page, in Markdown. */
  static String text() {
    StringBuilder page = new StringBuilder();
    page.append("# Settings of the Kafka Connect plugins\n\n")
        .append("Made from the plugins' own declarations by `scripts/connect docs`. Connect's settings for every\n")
        .append("connector (`topics`, `tasks.max`, `errors.tolerance` ...) are in Kafka's documentation;\n")
        .append("[README.md](README.md) has complete examples.\n");
    plugins().forEach(plugin -> append(page, plugin));
    return page.toString();
  }

  private static Stream<Plugin> plugins() {
    return Stream.of(
            load(SourceConnector.class, "Source connector", Connector::config),
            load(SinkConnector.class, "Sink connector", Connector::config),
            load(Converter.class, "Converter", Converter::config))
        .flatMap(Function.identity());
  }

  private static <T> Stream<Plugin> load(Class<T> service, String kind, Function<? super T, ConfigDef> settings) {
    return ServiceLoader.load(service).stream()
        .filter(provider -> provider.type().getName().startsWith(OWN))
        .sorted(Comparator.comparing(provider -> provider.type().getName()))
        .map(provider -> new Plugin(kind, provider.type(), settings.apply(provider.get())));
  }

  private static void append(StringBuilder page, Plugin plugin) {
    page.append("\n## ").append(plugin.type().getSimpleName()).append("\n\n")
        .append(plugin.kind()).append(" `").append(plugin.type().getName()).append("`\n");
    for (String group : groups(plugin.settings())) {
      if (group != null) {
        page.append("\n### ").append(group).append('\n');
      }
      plugin.settings().configKeys().values().stream()
          .filter(key -> Objects.equals(key.group, group) && !key.internalConfig)
          .sorted(Comparator.comparingInt(key -> key.orderInGroup))
          .forEach(key -> append(page, key));
    }
  }

  /** In the order in which they were declared; settings without a group come last. */
  private static List<String> groups(ConfigDef settings) {
    List<String> groups = new ArrayList<>(settings.groups());
    if (settings.configKeys().values().stream().anyMatch(key -> key.group == null)) {
      groups.add(null);
    }
    return groups;
  }

  private static void append(StringBuilder page, ConfigKey key) {
    page.append("\n**`").append(key.name).append("`**");
    if (key.displayName != null && !key.displayName.equals(key.name)) {
      page.append(" (").append(key.displayName).append(')');
    }
    page.append("  \n").append(markdown(key.documentation)).append("\n\n");
    page.append("- Type: ").append(key.type.name().toLowerCase(Locale.ROOT)).append(", importance: ")
        .append(key.importance.name().toLowerCase(Locale.ROOT)).append('\n');
    page.append("- Default: ").append(defaultValue(key)).append('\n');
    if (key.validator != null && key.type != ConfigDef.Type.PASSWORD) {
      page.append("- Valid: ").append(key.validator).append('\n');
    }
  }

  private static String defaultValue(ConfigKey key) {
    if (!key.hasDefault()) {
      return "none, it must be set";
    }
    String text = key.defaultValue == null ? "" : ConfigDef.convertToString(key.defaultValue, key.type);
    return text.isEmpty() ? "not set" : "`" + text + "`";
  }

  /** Documentation is in the little HTML that Kafka's own pages use. */
  private static String markdown(String html) {
    return html.replaceAll("</?code>", "`");
  }
}
