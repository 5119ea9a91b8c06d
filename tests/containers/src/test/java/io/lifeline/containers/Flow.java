package io.lifeline.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;

/** Our own containers beside a broker: one with the emitter's tools, one with the stream jobs. */
final class Flow implements AutoCloseable {

  static final String ARCHIVE = "/var/lib/lifeline/archive";

  private static final long EMITTERS_MEMORY = 256L << 20;

  private final GenericContainer<?> tools;
  private final GenericContainer<?> jobs;

  private Flow(GenericContainer<?> tools, GenericContainer<?> jobs) {
    this.tools = tools;
    this.jobs = jobs;
  }

  /**
   * Sets the broker up, and starts an archive and a ledger on it.
   *
   * @param brokerUrl the broker's URL inside of the network
   * @param settings of the jobs, beyond those
   */
  static Flow start(Network network, String brokerUrl, String jobsImage, Map<String, String> settings)
      throws IOException, InterruptedException {
    GenericContainer<?> tools =
        new GenericContainer<>(Images.TOOLS)
            .withNetwork(network)
            .withLabels(Images.LABELS)
            .withEnv("LIFELINE_URL", brokerUrl)
            .withSharedMemorySize(EMITTERS_MEMORY)
            .withCommand("sleep", "infinity");
    GenericContainer<?> jobs =
        new GenericContainer<>(jobsImage)
            .withNetwork(network)
            .withLabels(Images.LABELS)
            .withEnv("LIFELINE_JOBS_BROKER_URL", brokerUrl)
            .withEnv("LIFELINE_JOBS_JOBS", "archive,ledger,summarise")
            .withEnv("LIFELINE_JOBS_ARCHIVE_DIR", ARCHIVE)
            .withEnv("LIFELINE_JOBS_ARCHIVE_ROLL_INTERVAL", "1s")
            .withEnv(settings)
            .waitingFor(Wait.forHealthcheck());
    Flow flow = new Flow(tools, jobs);
    try {
      tools.start();
      flow.tool("lifeline-setup");
      jobs.start();
      return flow;
    } catch (RuntimeException | Error e) {
      String log = jobs.isCreated() ? jobs.getLogs() : "";
      flow.close();
      throw new AssertionError(log, e);
    }
  }

  /** Emits numbered events, and returns how many. */
  long emit(int run, int events) throws IOException, InterruptedException {
    return Serials.emitted(
        tool(Serials.EMITTER, "--side", "/dev/shm/side", "--run", "" + run, "--events", "" + events));
  }

  /** Runs a command beside the emitter's tools, and returns what it prints. */
  String tool(String... command) throws IOException, InterruptedException {
    return successful(tools.execInContainer(command));
  }

  /** What the archive answers, as CSV. */
  String sql(String query) {
    try {
      return successful(jobs.execInContainer("lifeline-jobs", "sql", "--archive", ARCHIVE, "--csv", query));
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Runs a command in the container of the jobs, and returns what it prints. */
  String inJobs(String... command) throws IOException, InterruptedException {
    return successful(jobs.execInContainer(command));
  }

  private static String successful(ExecResult result) {
    assertThat(result.getExitCode()).as("%s%s", result.getStdout(), result.getStderr()).isZero();
    return result.getStdout();
  }

  @Override
  public void close() {
    jobs.stop();
    tools.stop();
  }
}
