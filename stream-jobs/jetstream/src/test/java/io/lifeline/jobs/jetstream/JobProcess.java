package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A host in a separate process, so that it can be killed. */
final class JobProcess implements AutoCloseable {

  private final Process process;

  private JobProcess(Process process) {
    this.process = process;
  }

  /** Arguments are settings, {@code key=value} each. */
  public static void main(String[] settings) throws Exception {
    Map<String, String> map = new LinkedHashMap<>();
    for (String setting : settings) {
      map.put(setting.substring(0, setting.indexOf('=')), setting.substring(setting.indexOf('=') + 1));
    }
    JetStreamHost host = new JetStreamHost(JobConfig.load(null, Map.of(), map), new Metrics());
    host.start();
    System.exit(System.in.read() < 0 ? end(host) : 2);
  }

  private static int end(JetStreamHost host) {
    host.close();
    return 0;
  }

  static JobProcess start(Path log, String... settings) throws IOException {
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
    command.addAll(List.of(settings));
    File output = log.toFile();
    return new JobProcess(
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(output))
            .start());
  }

  boolean isAlive() {
    return process.isAlive();
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
