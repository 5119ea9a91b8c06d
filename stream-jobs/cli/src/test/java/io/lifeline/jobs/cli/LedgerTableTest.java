package io.lifeline.jobs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class LedgerTableTest {

  @Test
  void alignsBalancesAndSumsThemUp() throws Exception {
    JsonNode first = balance("a", 10, "7");
    JsonNode second = balance("evil\\u009b[2J", 2000, "1990");
    assertThat(table(first, second))
        .isEqualTo(
            """
            host      program  pid  incarnation  route  state\
              emitted  received  archived  in_flight  dropped  expired  not_archived  missing  duplicated
            a         copy     1    00112233     0      live\
                    10         9         7          2        1        0             0        0           0
            evil\uFFFD[2J  copy     1    00112233     0      live\
                  2000         9      1990          2        1        0             0        0           0
            ledger: emitted=2010 received=18 archived=1997 in_flight=4 dropped=2 expired=0 not_archived=0\
             missing=0 duplicated=0
            """);
  }

  @Test
  void doesNotGuessWhatAnArchiveHoldsThatItDoesNotKnow() throws Exception {
    assertThat(table(balance("a", 10, "null"))).contains(" archived=unknown ").endsWith(" duplicated=0\n");
  }

  private static JsonNode balance(String host, long emitted, String archived) throws Exception {
    return new ObjectMapper()
        .readTree(
            """
            {"host":"%s","program":"copy","pid":1,"incarnation":"00112233445566778899aabbccddeeff","route":0,
             "state":"live","emitted":%d,"received":9,"archived":%s,"in_flight":2,"dropped":1,"expired":0,
             "not_archived":0,"missing":0,"duplicated":0}"""
                .formatted(host, emitted, archived));
  }

  private static String table(JsonNode... balances) {
    StringWriter out = new StringWriter();
    LedgerTable.print(List.of(balances), new PrintWriter(out));
    return out.toString();
  }
}
