package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class TerminalTest {

  @Test
  void whatDrivesATerminalOrTurnsItsTextAroundIsReplaced() {
    assertThat(Terminal.printable("a\u001b[2Jb\u202Ec\u2066d\u2028e\u200Ff\ng\u0085"))
        .isEqualTo("a\uFFFD[2Jb\uFFFDc\uFFFDd\uFFFDe\uFFFDf\uFFFDg\uFFFD");
    assertThat(Terminal.printable("\u6f22\u5b57 \ud83d\ude00 e\u0301")).isEqualTo("\u6f22\u5b57 \ud83d\ude00 e\u0301");
    assertThat(Terminal.printableLines("a\nb\u202E")).isEqualTo("a\nb\uFFFD");
  }

  /** Of an emitter's text, such as CSV on a terminal. */
  @Test
  void aGuardedWriterKeepsTheEndsOfLinesOnly() {
    StringWriter shown = new StringWriter();
    PrintWriter out = Terminal.guarded(shown);
    out.print("a,b\n");
    out.println("\u001b[2J,\u202ex\u009b\r");
    out.flush();
    assertThat(shown.toString()).isEqualTo("a,b\n\ufffd[2J,\ufffdx\ufffd\ufffd\n");
  }
}
