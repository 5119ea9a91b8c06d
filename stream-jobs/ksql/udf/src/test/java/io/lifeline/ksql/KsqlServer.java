package io.lifeline.ksql;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;

/** Client of a ksqlDB server, over HTTP. */
final class KsqlServer {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration LONGEST = Duration.ofSeconds(120);

  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI url;

  KsqlServer(URI url) {
    this.url = url;
  }

  URI url() {
    return url;
  }

  /** Runs statements that return at once; if the server rejects them, fails with its message. */
  JsonNode execute(String statements) {
    ObjectNode request = JSON.createObjectNode().put("ksql", statements);
    HttpResponse<String> response = send("/ksql", "application/vnd.ksql.v1+json", request, BodyHandlers.ofString());
    try {
      if (response.statusCode() != 200) {
        throw new AssertionError("ksqlDB refuses:\n" + statements + "\n" + message(response.body()));
      }
      JsonNode answers = JSON.readTree(response.body());
      for (JsonNode answer : answers) {
        if (answer.path("commandStatus").path("status").asText("SUCCESS").equals("ERROR")) {
          throw new AssertionError("ksqlDB fails at:\n" + statements + "\n" + answer.path("commandStatus"));
        }
      }
      return answers;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the current rows of a query: a pull query, or a push query with a limit. */
  List<JsonNode> rows(String query) {
    return rows(query, Integer.MAX_VALUE);
  }

  /** Returns the first rows of a query that never ends. */
  List<JsonNode> rows(String query, int count) {
    ObjectNode request = JSON.createObjectNode().put("sql", query);
    request.putObject("properties").put("auto.offset.reset", "earliest");
    HttpResponse<Stream<String>> response =
        send("/query-stream", "application/vnd.ksqlapi.delimited.v1", request, BodyHandlers.ofLines());
    try (Stream<String> lines = response.body()) {
      Iterator<String> each = lines.iterator();
      if (response.statusCode() != 200) {
        throw new AssertionError("ksqlDB refuses:\n" + query + "\n" + message(each.next()));
      }
      each.next(); // the column names
      List<JsonNode> rows = new ArrayList<>();
      while (rows.size() < count && each.hasNext()) {
        JsonNode row = JSON.readTree(each.next());
        if (row.isArray()) {
          rows.add(row);
        }
      }
      return rows;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private <T> HttpResponse<T> send(String path, String accept, ObjectNode body, HttpResponse.BodyHandler<T> handler) {
    HttpRequest request =
        HttpRequest.newBuilder(url.resolve(path))
            .timeout(LONGEST)
            .header("Content-Type", "application/vnd.ksql.v1+json")
            .header("Accept", accept)
            .POST(BodyPublishers.ofString(body.toString()))
            .build();
    try {
      return client.send(request, handler);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while ksqlDB worked", e);
    }
  }

  private static String message(String body) throws IOException {
    JsonNode answer = JSON.readTree(body);
    return answer.path("message").asText(body);
  }
}
