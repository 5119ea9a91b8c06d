package io.lifeline.jobs.live;

import io.lifeline.jobs.core.config.ConfigKey;
import io.lifeline.jobs.core.config.JobConfig;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** Configuration options of every command that connects to a broker. */
public final class ConfigOptions {

  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      description = "Properties file with the settings; 'lifeline-jobs config --keys' documents them.")
  private Path file;

  @Option(
      names = {"-s", "--set"},
      paramLabel = "KEY=VALUE",
      description = "One setting; overrides the environment (LIFELINE_JOBS_<KEY>) and the file. Repeatable.",
      mapFallbackValue = "")
  private Map<String, String> overrides = new LinkedHashMap<>();

  public JobConfig load() {
    return JobConfig.load(file, System.getenv(), overrides);
  }

  /** As {@link #load}, with one more setting, which overrides all others. */
  public JobConfig load(ConfigKey<?> key, String value) {
    Map<String, String> all = new LinkedHashMap<>(overrides);
    all.put(key.name(), value);
    return JobConfig.load(file, System.getenv(), all);
  }
}
