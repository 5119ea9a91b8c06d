package io.lifeline.console.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What is refused at start, and the tokens of the command line. */
class AccessOptionsTest {
  @TempDir Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    CommandLine command = Main.commandLine();
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    command.setOut(new PrintWriter(out)).setErr(new PrintWriter(err, true));
    return command.execute(arguments);
  }

  private void refused(String why, String... arguments) {
    assertThat(run(arguments)).isEqualTo(2);
    assertThat(err.toString()).contains(why);
  }

  @Test
  void anAddressThatOthersReachNeedsTlsAndALogin() throws Exception {
    String file = Files.createFile(directory.resolve("empty")).toString();
    for (String listen : new String[] {"0.0.0.0:0", "[::]:0", "192.0.2.1:8080", "console.example:0", "127.0.0.2:0"}) {
      refused("--listen " + listen + " can be reached from other machines, so it needs TLS and a login: add --tls-cert"
          + " FILE --tls-key FILE, and --tokens FILE (which 'lifeline-console token issue' writes) or --tls-client-ca"
          + " FILE; or use 127.0.0.1:PORT", "archive", "--listen", listen);
    }
    refused("login: add --tls-cert FILE --tls-key FILE; or use", "archive", "--listen", "0.0.0.0:0", "--tokens", file);
    refused("login: add --tokens FILE (which", "archive", "--listen", "0.0.0.0:0", "--tls-cert", file, "--tls-key",
        file);
  }

  @Test
  void optionsThatDoNotFitAreRefused() throws Exception {
    String file = Files.createFile(directory.resolve("empty")).toString();
    String gone = directory.resolve("gone").toString();
    refused("add --tls-key FILE", "archive", "--tls-cert", file);
    refused("add --tls-cert FILE", "archive", "--tls-key", file);
    refused("--tls-client-ca needs HTTPS", "archive", "--tls-client-ca", file);
    refused("add --tls-client-ca FILE", "archive", "--tls-client-role", "admin");
    refused("holds no PKCS #8 private key", "archive", "--tls-cert", file, "--tls-key", file);
    refused("there is no such file; lifeline-console token issue creates it", "archive", "--tokens", gone);
    refused("--tokens: the tokens in " + file + " cannot be read", "archive", "--tokens", file);
    refused("cannot be opened for appending", "archive", "--audit", directory.toString());
    refused("HOST:PORT is expected", "archive", "--listen", "8080");
    refused("HOST:PORT is expected", "archive", "--listen", "127.0.0.1:99999");
  }

  @Test
  void tokensAreIssuedListedAndRevoked() throws Exception {
    String file = directory.resolve("tokens.json").toString();
    String audit = directory.resolve("audit.log").toString();
    assertThat(run("token", "issue", "--tokens", file, "--name", "ci", "--role", "activate", "--for", "Ann Lee", "--types",
        "disk.*,net.send", "--programs", "copy", "--resolution", "sample:10", "--for-time", "7d", "--audit", audit))
        .isZero();
    String secret = out.toString().strip();
    assertThat(secret).matches("llc_[A-Za-z0-9_-]{43}");
    assertThat(err.toString()).startsWith("token ci with role activate until 20").doesNotContain(secret);
    assertThat(run("token", "list", "--tokens", file)).isZero();
    assertThat(out.toString()).containsPattern("ci +activate +20.*Z +Ann Lee +disk\\.\\*,net\\.send +copy +sample:10")
        .doesNotContain(secret);
    assertThat(run("token", "revoke", "--tokens", file, "ci", "--audit", audit)).isZero();
    assertThat(out.toString()).isEqualTo("revoked: ci\n");
    assertThat(Files.readString(Path.of(audit)).lines()).hasSize(4).noneMatch(line -> line.contains(secret));
  }

  @Test
  void mistakesOfTheCommandLineAreExplained() {
    String file = directory.resolve("tokens.json").toString();
    refused("the name 'a b' of a token must be", "token", "issue", "--tokens", file, "--name", "a b", "--role", "view");
    refused("'boss' is not a role", "token", "issue", "--tokens", file, "--name", "ab", "--role", "boss");
    refused("mutually exclusive", "token", "issue", "--tokens", file, "--name", "ab", "--role", "view", "--until",
        "2030-01-01T00:00:00Z", "--for-time", "1d");
    assertThat(run("token", "revoke", "--tokens", file, "ab")).isEqualTo(1);
    assertThat(err.toString()).contains("there is no token ab");
  }

  @Test
  void whatCannotBeAuditedIsNotDone() {
    Path file = directory.resolve("tokens.json");
    assertThat(run("token", "issue", "--tokens", file.toString(), "--name", "ab", "--role", "view", "--audit",
        "/dev/full")).isEqualTo(1);
    assertThat(err.toString()).contains("the audit log /dev/full cannot be written");
    assertThat(out.toString()).isEmpty();
    assertThat(file).doesNotExist();
  }
}
