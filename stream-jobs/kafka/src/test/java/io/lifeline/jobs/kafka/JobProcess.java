package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** A host in a separate process, so that it can be killed. */
final class JobProcess implements AutoCloseable {

  private static final String SHARING = "shares the work";
  private static final Pattern SHARES =
      Pattern.compile("lifeline_kafka_active_tasks [1-9].*lifeline_kafka_standby_tasks [1-9]", Pattern.DOTALL);

  private final Process process;
  private final Path log;

  private JobProcess(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /** Arguments are settings, {@code key=value} each. */
  public static void main(String[] settings) throws Exception {
    Map<String, String> map = new LinkedHashMap<>();
    for (String setting : settings) {
      map.put(setting.substring(0, setting.indexOf('=')), setting.substring(setting.indexOf('=') + 1));
    }
    Metrics metrics = new Metrics();
    try (KafkaHost host = new KafkaHost(JobConfig.load(null, Map.of(), map), metrics)) {
      host.start();
      while (!SHARES.matcher(metrics.text()).find()) {
        Thread.sleep(50);
      }
      System.out.println(SHARING);
      System.in.read();
    }
  }

  /** @param log log file, one per process */
  static JobProcess start(Path log, List<String> settings) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                JobProcess.class.getName()));
    command.addAll(settings);
    Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    return new JobProcess(process, log);
  }

  /** Returns whether it has active tasks and standby tasks. */
  boolean sharesTheWork() throws IOException {
    if (!process.isAlive()) {
      throw new IOException("the process has ended: see " + log);
    }
    return Files.readString(log).contains(SHARING);
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Closing its standard input asks it to shut down gracefully. */
  @Override
  public void close() throws IOException, InterruptedException {
    process.getOutputStream().close();
    process.waitFor();
  }
}
