package io.lifeline.jobs.cli;

import io.lifeline.jobs.core.config.ConfigKey;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.live.ConfigOptions;
import java.io.PrintWriter;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the configuration, or all possible settings. */
@Command(
    name = "config",
    description = "Prints the effective settings with secrets masked, or documents them all.",
    mixinStandardHelpOptions = true)
final class ConfigCommand implements Runnable {

  @Mixin private ConfigOptions options;
  @Spec private CommandSpec spec;

  @Option(names = "--keys", description = "Print all settings with their meaning instead, as a properties file.")
  private boolean keys;

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    if (keys) {
      Keys.all().forEach(key -> document(key, out));
      out.println("# A setting filter.NAME is a condition in CEL: the job filter fills the stream NAME with the");
      out.println("# events that meet it. Such as: filter.large=type.startsWith(\"disk.\") && nbytes > 1000000");
      out.println("# Settings that start with kafka. go to the Kafka clients as they are, without the kafka.");
    } else {
      JobConfig config = options.load();
      config.masked().forEach((name, value) -> out.printf(Locale.ROOT, "%s%s=%s%n", origin(config, name), name, value));
    }
    out.flush();
  }

  /** Returns a comment line with the origin of a setting that is not a default. */
  private static String origin(JobConfig config, String name) {
    return switch (config.origin(name)) {
      case DEFAULT -> "";
      case FILE -> "# from the file\n";
      case ENVIRONMENT -> "# from the environment\n";
      case COMMAND_LINE -> "# from the command line\n";
    };
  }

  private static void document(ConfigKey<?> key, PrintWriter out) {
    out.printf(Locale.ROOT, "# %s%n# Expected: %s.%n# Environment: %s%n", key.description(), key.type().allowed(),
        key.environmentVariable());
    out.printf(Locale.ROOT, "%s%s=%s%n%n", key.defaultText() == null ? "#" : "", key.name(),
        key.defaultText() == null ? "" : key.defaultText());
  }
}
