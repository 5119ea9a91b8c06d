package io.lifeline.jobs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class AlertTableTest {

  @Test
  void showsEachAlertAndCountsThoseThatAreOn() throws Exception {
    assertThat(table(alert("on", "program=copy"), alert("off", "session=\\u001b[2J")))
        .isEqualTo(
            """
            state  alert       group         subject     reason   since  at
            on     bottleneck  program=copy  disk-write  slowest  then   now
            off    bottleneck  session=\uFFFD[2J  disk-write  slowest  then   now
            alerts: on=1
            """);
  }

  @Test
  void anAlertOfAnotherKindNeedNotHaveEveryColumn() throws Exception {
    JsonNode other = new ObjectMapper().readTree("{\"alert\":\"threshold\",\"state\":\"on\"}");
    assertThat(table(other)).contains("on     threshold  -      -        -       -      -\n");
  }

  private static JsonNode alert(String state, String group) throws Exception {
    return new ObjectMapper()
        .readTree(
            """
            {"alert":"bottleneck","state":"%s","group":"%s","subject":"disk-write","reason":"slowest","since":"then",
             "at":"now","at_ns":1}"""
                .formatted(state, group));
  }

  private static String table(JsonNode... alerts) {
    StringWriter out = new StringWriter();
    AlertTable.print(List.of(alerts), new PrintWriter(out));
    return out.toString();
  }
}
