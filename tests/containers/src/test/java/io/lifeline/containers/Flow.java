package io.lifeline.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import java.util.stream.Stream;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;

/** Our own containers beside a broker: one with the emitter's tools, which others may use too, one with the stream jobs. */
final class Flow implements AutoCloseable {

  private final GenericContainer<?> tools;
  private final String brokerUrl;
  private final GenericContainer<?> jobs;

  private Flow(GenericContainer<?> tools, String brokerUrl, GenericContainer<?> jobs) {
    this.tools = tools;
    this.brokerUrl = brokerUrl;
    this.jobs = jobs;
  }

  /** Makes the streams or topics that the URL names. */
  static void setUp(GenericContainer<?> tools, String brokerUrl) throws IOException, InterruptedException {
    successful(tools.execInContainer("lifeline-setup", "--url", brokerUrl));
  }

  /**
   * Starts an archive and a ledger on a broker that is set up.
   *
   * @param brokerUrl the broker's URL inside of the network
   * @param environment of the jobs, beyond those
   */
  static Flow start(
      Network network, GenericContainer<?> tools, String brokerUrl, String jobsImage, Map<String, String> environment) {
    GenericContainer<?> jobs =
        new GenericContainer<>(jobsImage)
            .withNetwork(network)
            .withLabels(Images.LABELS)
            .withEnv("LIFELINE_JOBS_BROKER_URL", brokerUrl)
            .withEnv("LIFELINE_JOBS_JOBS", "archive,ledger,summarise")
            .withEnv("LIFELINE_JOBS_ARCHIVE_DIR", Serials.ARCHIVE)
            .withEnv("LIFELINE_JOBS_ARCHIVE_ROLL_INTERVAL", "1s")
            .withEnv(environment)
            .waitingFor(Wait.forHealthcheck().withStartupTimeout(Images.TIMEOUT));
    try {
      jobs.start();
      return new Flow(tools, brokerUrl, jobs);
    } catch (RuntimeException | Error e) {
      String log = jobs.isCreated() ? jobs.getLogs() : "";
      jobs.stop();
      throw new AssertionError(log, e);
    }
  }

  /** Emits numbered events, and returns how many. */
  long emit(int run, int events) throws IOException, InterruptedException {
    String side = "/dev/shm/side-" + jobs.getContainerId();
    String[] command = {
      "env", "LIFELINE_URL=" + brokerUrl, Serials.EMITTER, "--side", side, "--run", "" + run, "--events", "" + events
    };
    return Serials.emitted(successful(tools.execInContainer(command)));
  }

  /** Runs a command in the container of the jobs, and returns what it prints. */
  String inJobs(String... command) {
    try {
      return successful(jobs.execInContainer(command));
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(Stream.of(command).toList().toString(), e);
    }
  }

  private static String successful(ExecResult result) {
    assertThat(result.getExitCode()).as("%s%s", result.getStdout(), result.getStderr()).isZero();
    return result.getStdout();
  }

  @Override
  public void close() {
    jobs.stop();
  }
}
