package io.lifeline.console.cli;

import io.lifeline.console.access.Audit;
import io.lifeline.console.access.Identity;
import io.lifeline.console.access.Limits;
import io.lifeline.console.access.Role;
import io.lifeline.console.access.Token;
import io.lifeline.console.access.TokenRequest;
import io.lifeline.console.access.Tokens;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Issues, lists and revokes the tokens of a file. */
@Command(
    name = "token",
    mixinStandardHelpOptions = true,
    description = "Issues, lists and revokes the tokens with which callers of the console log in.",
    synopsisSubcommandLabel = "(issue | list | revoke)",
    footer = {
      "",
      "Examples:",
      "  lifeline-console token issue --tokens tokens.json --name ann --role admin",
      "  lifeline-console token issue --tokens tokens.json --name ci --role activate --types 'disk.*' --for-time 7d",
      "  lifeline-console token revoke --tokens tokens.json ci"
    })
final class TokenCommand {
  private static final String ALL = "all";

  /** The file, and who changes it. */
  static final class File {
    @Option(names = "--tokens", paramLabel = "FILE", required = true,
        description = "the file of tokens, with mode 0600; a running console reads it again when it changes")
    private Path tokens;

    @Option(names = "--audit", paramLabel = "FILE",
        description = "append what is done to the audit log of the console")
    private Path audit;

    Tokens tokens() {
      return new Tokens(tokens, Clock.systemUTC());
    }

    <T> T audited(String action, Map<String, Object> details, Supplier<T> work) throws IOException {
      Audit log = audit == null ? Audit.none() : Audit.of(audit, Clock.systemUTC());
      log.record(issuer(), action, details, Audit.BEGUN);
      String outcome = "refused";
      try {
        T done = work.get();
        outcome = Audit.DONE;
        return done;
      } finally {
        log.record(issuer(), action, details, outcome);
      }
    }

    static Identity issuer() {
      return new Identity("command:" + System.getProperty("user.name"), Role.ADMIN, null, "command line", Limits.NONE);
    }
  }

  @Spec
  private CommandSpec spec;

  /** When a token expires. */
  private static final class End {
    @Option(names = "--until", paramLabel = "TIME", description = "when it expires: 2026-12-31T18:00:00Z")
    private String until;

    @Option(names = "--for-time", paramLabel = "DURATION", description = "after what time: 8h, 7d (default: 30d)")
    private Duration time;

    String text() {
      return time == null ? until : Instant.now().plus(time).truncatedTo(ChronoUnit.SECONDS).toString();
    }
  }

  @Command(name = "issue", mixinStandardHelpOptions = true, description = {
    "Issues a token and prints it; it is not shown again, since the file only keeps its hash.",
    "Types, programs and resolution limit what its holder may switch on, not what it may see."
  })
  int issue(
      @Mixin File file,
      @Option(names = "--name", paramLabel = "NAME", required = true, description = "letters, digits and ._@-")
          String name,
      @Option(names = "--role", paramLabel = "ROLE", required = true, description = "view, activate or admin; each may"
          + " do what those before it may") String role,
      @Option(names = "--for", paramLabel = "PERSON", description = "on whose behalf the holder acts") String person,
      @Option(names = "--types", paramLabel = "PATTERN", split = ",", description = "event types that the holder may"
          + " switch: disk.*,net.* (default: all)") List<String> types,
      @Option(names = "--programs", paramLabel = "PATTERN", split = ",", description = "programs whose events the"
          + " holder may switch (default: all)") List<String> programs,
      @Option(names = "--resolution", paramLabel = "RESOLUTION", description = "the highest that the holder may ask"
          + " for: off, summary, sample:N or full (default: full)") String resolution,
      @ArgGroup End end)
      throws IOException {
    String until = end == null ? null : end.text();
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("name", name);
    details.put("role", role);
    details.put("onBehalfOf", person);
    details.put("types", types);
    details.put("programs", programs);
    details.put("resolution", resolution);
    details.put("until", until);
    Tokens.Issued issued = file.audited("token issue", details, () -> file.tokens().issue(
        new TokenRequest(name, role, person, types, programs, resolution, until), File.issuer()));
    out().println(issued.secret());
    out().flush();
    spec.commandLine().getErr().println("token " + name + " with role " + role + " until " + issued.token().until()
        + "; keep it now, it is not shown again");
    return 0;
  }

  @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists the tokens, without their secrets.")
  int list(@Mixin File file) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("NAME", "ROLE", "UNTIL", "FOR", "TYPES", "PROGRAMS", "RESOLUTION", "ISSUED BY"));
    Instant now = Instant.now();
    for (Token token : file.tokens().list()) {
      rows.add(List.of(token.name(), token.role().text(), token.until() + (token.expired(now) ? " (expired)" : ""),
          token.onBehalfOf() == null ? "-" : token.onBehalfOf(), patterns(token.types()), patterns(token.programs()),
          token.resolution(), token.issuedBy()));
    }
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.size(); i++) {
        int column = i;
        int width = rows.stream().mapToInt(one -> one.get(column).length()).max().orElse(0);
        line.append(row.get(i)).append(" ".repeat(width - row.get(i).length() + 2));
      }
      out().println(line.toString().stripTrailing());
    }
    out().flush();
    return 0;
  }

  private static String patterns(List<String> patterns) {
    return patterns.isEmpty() ? ALL : String.join(",", patterns);
  }

  @Command(name = "revoke", mixinStandardHelpOptions = true,
      description = "Revokes a token, and those that it issued; their logins end at once.")
  int revoke(@Mixin File file, @Parameters(paramLabel = "NAME", description = "name of the token") String name)
      throws IOException {
    List<String> revoked = file.audited("token revoke", Map.of("name", name), () -> file.tokens().revoke(name));
    out().println("revoked: " + String.join(", ", revoked));
    out().flush();
    return 0;
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }
}
