package io.lifeline.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.console.access.Access;
import io.lifeline.console.access.Audit;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.directory.Directory;
import io.lifeline.jobs.live.Activations;
import io.lifeline.jobs.live.Programs;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("system")
class ActivationListTest {
  private static final int PAGES = 30;

  @TempDir Path directory;

  @Test
  void manyPagesDoNotWaitInTurnForABrokerThatDoesNotAnswer() throws Exception {
    Path program = Files.writeString(directory.resolve("lifeline-activate"), "#!/bin/sh\necho run >> '" + directory
        + "/runs'\nsleep 3\necho 'lifeline-activate: no answer' >&2\nexit 1\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    Activations activations = new Activations(
        JobConfig.load(null, Map.of(), Map.of("broker.url", "nats://127.0.0.1:1")), Programs.in(directory));
    HttpClient client = HttpClient.newHttpClient();
    try (Server server = Server.start(new Server.Address("127.0.0.1", 0, null),
        Routes.of(new ActivationOperations(activations, new Directory())), new Metrics(), Access.withoutLogin(),
        Audit.none())) {
      HttpRequest list = HttpRequest.newBuilder(URI.create(server.url()).resolve("/api/v1/activations")).build();
      List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
      for (int i = 0; i < PAGES; i++) {
        answers.add(client.sendAsync(list, BodyHandlers.ofString()));
      }
      for (CompletableFuture<HttpResponse<String>> answer : answers) {
        assertThat(answer.get(120, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
        assertThat(answer.get().body()).contains("no answer");
      }
    }
    assertThat(Files.readAllLines(directory.resolve("runs"))).hasSizeLessThan(PAGES / 2);
  }
}
