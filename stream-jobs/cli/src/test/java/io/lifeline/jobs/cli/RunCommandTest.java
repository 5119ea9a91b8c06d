package io.lifeline.jobs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the command as a process, with a real nats-server. */
@Tag("system")
class RunCommandTest {

  /** Longer than a graceful shutdown may take; a failed shutdown is reported by the exit code. */
  private static final int PATIENCE_S = 90;

  @TempDir Path directory;
  private NatsServer server;
  private String url;
  private final List<Process> started = new ArrayList<>();

  @BeforeEach
  void takeServer() throws Exception {
    server = NatsServer.shared();
    url = server.url();
  }

  @AfterEach
  void endStarted() {
    started.forEach(Process::destroyForcibly);
  }

  @Test
  void tellsWhenItIsReadyAnswersForItsHealthAndEndsWellOnSigterm() throws Exception {
    createStreams();
    Process process =
        lifelineJobs("run", "-s", "jobs=summarise,ledger,archive", "-s", "archive.dir=" + directory.resolve("archive"));
    BufferedReader out = process.inputReader();
    String ready = out.readLine();
    assertThat(ready)
        .matches("ready: health=http://127\\.0\\.0\\.1:[0-9]+ broker=" + url + "/lifeline\\.batches"
            + " jobs=summarise,ledger,archive");
    String health = ready.replaceAll(".*health=(\\S+).*", "$1");
    HttpResponse<String> answer = get(health + "/health");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body())
        .isEqualTo(
            "{\"status\":\"ok\",\"parts\":"
                + "{\"archive\":\"running\",\"ledger\":\"running\",\"summarise\":\"running\"}}");
    assertThat(get(health + "/metrics").body())
        .contains("# TYPE lifeline_batches_total counter\n", "lifeline_batches_total{task=\"summarise\"} 0\n");
    // Unlike Process.destroy, this leaves the output open.
    process.toHandle().destroy();
    assertThat(process.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
    assertThat(out.readLine()).isNull();
    assertThat(process.errorReader().lines()).isEmpty();
  }

  @Test
  void endsOnSigtermInBoundedTimeWhileTheBrokerIsAway() throws Exception {
    createStreams();
    Process process =
        lifelineJobs("run", "-s", "jobs=summarise,ledger,archive", "-s", "archive.dir=" + directory.resolve("archive"));
    assertThat(process.inputReader().readLine()).startsWith("ready: ");
    server.kill();
    process.toHandle().destroy();
    assertThat(process.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
  }

  @Test
  void endsOnSigtermInBoundedTimeThoughItNeverCameToRun() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      url = "kafka://127.0.0.1:" + silent.getLocalPort();
      Process process = lifelineJobs("run", "-s", "jobs=summarise");
      silent.accept();
      process.toHandle().destroy();
      // Without the signal it would wait for the broker for 30 seconds.
      assertThat(process.waitFor(25, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void waitsForABrokerThatIsStartedAfterItAndSaysSo() throws Exception {
    createStreams();
    server.kill();
    Process process =
        lifelineJobs("run", "-s", "jobs=archive", "-s", "archive.dir=" + directory.resolve("archive"));
    assertThat(process.errorReader().readLine()).contains(url + "/lifeline.batches cannot be reached; waiting up to "
        + "30 s");
    server.start();
    assertThat(process.inputReader().readLine()).startsWith("ready: ");
    process.toHandle().destroy();
    assertThat(process.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void endsAtOnceWithASentenceWhenTheStreamIsMissing() throws Exception {
    Process process = lifelineJobs("run", "-s", "jobs=summarise");
    assertThat(process.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(1);
    assertThat(process.errorReader().lines())
        .containsExactly("lifeline-jobs: the stream LIFELINE_OUT does not exist; create it with lifeline-setup");
  }

  @Test
  void saysWhatAJobNeedsThatIsNotSet() throws Exception {
    createStreams();
    Process process = lifelineJobs("run", "-s", "jobs=archive");
    assertThat(process.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(2);
    assertThat(process.errorReader().lines())
        .containsExactly(
            "lifeline-jobs: the job archive needs archive.dir (a directory of Parquet files) or archive.url (a "
                + "PostgreSQL"
                + " database)");
  }

  private Process lifelineJobs(String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Main.class.getName()));
    command.addAll(List.of(arguments));
    command.addAll(List.of("-s", "broker.url=" + url));
    Process process = new ProcessBuilder(command).start();
    started.add(process);
    return process;
  }

  private void createStreams() throws Exception {
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
    }
  }

  private static HttpResponse<String> get(String address) throws Exception {
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString());
  }
}
