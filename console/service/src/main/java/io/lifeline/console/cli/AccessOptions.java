package io.lifeline.console.cli;

import io.lifeline.console.access.Access;
import io.lifeline.console.access.Audit;
import io.lifeline.console.access.Refusal;
import io.lifeline.console.access.Role;
import io.lifeline.console.access.Tls;
import io.lifeline.console.access.Tokens;
import io.lifeline.console.web.Proxies;
import io.lifeline.console.web.Server;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options for where to listen, and who may call from there. */
final class AccessOptions {
  private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "::1");
  private static final int LARGEST_PORT = 65_535;

  @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:0",
      description = "address to serve on; port 0 is a free one (default: ${DEFAULT-VALUE}). One that is not loopback"
          + " needs TLS and a login")
  private String listen;

  @Option(names = "--tls-cert", paramLabel = "FILE",
      description = "serve HTTPS with this certificate, in PEM form with its intermediate ones")
  private Path certificate;

  @Option(names = "--tls-key", paramLabel = "FILE", description = "private key of the certificate: PKCS #8 in PEM form")
  private Path key;

  @Option(names = "--tls-client-ca", paramLabel = "FILE",
      description = "callers with a certificate of this CA are logged in; without --tokens, nobody else is")
  private Path clientAuthority;

  @Option(names = "--tls-client-role", paramLabel = "ROLE",
      description = "role of callers with a certificate: view, activate or admin (default: view)")
  private String clientRole;

  @Option(names = "--tokens", paramLabel = "FILE",
      description = "callers need a token of this file, which 'lifeline-console token issue' writes")
  private Path tokens;

  @Option(names = "--audit", paramLabel = "FILE",
      description = "append a line of JSON for each change that a caller makes; what cannot be recorded is refused")
  private Path audit;

  @Option(names = "--trusted-proxies", paramLabel = "ADDRESS", split = ",",
      description = "proxies that end TLS, as addresses or networks such as 10.0.0.0/8: their Forwarded, or"
          + " X-Forwarded-Proto and X-Forwarded-For, say how a request reached them. Needs a login")
  private List<String> trustedProxies = List.of();

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  /** Returns where to listen, once that is safe. */
  Server.Address address() {
    int colon = listen.lastIndexOf(':');
    String host = colon < 0 ? "" : listen.substring(0, colon).replaceAll("[\\[\\]]", "");
    int port = port(listen.substring(colon + 1));
    if (host.isEmpty()) {
      throw wrong("--listen " + listen + ": HOST:PORT is expected");
    }
    if ((certificate == null) != (key == null)) {
      throw wrong("--tls-cert and --tls-key belong together: add " + (key == null ? "--tls-key" : "--tls-cert")
          + " FILE");
    }
    if (clientAuthority != null && certificate == null) {
      throw wrong("--tls-client-ca needs HTTPS: add --tls-cert FILE --tls-key FILE");
    }
    if (clientRole != null && clientAuthority == null) {
      throw wrong("--tls-client-role is for callers with a certificate: add --tls-client-ca FILE");
    }
    if (!LOOPBACK.contains(host)) {
      requireProtection();
    }
    if (!trustedProxies.isEmpty() && tokens == null && clientAuthority == null) {
      throw wrong("--trusted-proxies lets callers from other machines in, so it needs a login: add --tokens FILE, which"
          + " 'lifeline-console token issue' writes");
    }
    return new Server.Address(host, port, certificate == null ? null : tls(), proxies());
  }

  private void requireProtection() {
    List<String> missing = new ArrayList<>();
    if (certificate == null) {
      missing.add("--tls-cert FILE --tls-key FILE");
    }
    if (tokens == null && clientAuthority == null) {
      missing.add("--tokens FILE (which 'lifeline-console token issue' writes) or --tls-client-ca FILE");
    }
    if (!missing.isEmpty()) {
      throw wrong("--listen " + listen + " can be reached from other machines, so it needs TLS and a login: add "
          + String.join(", and ", missing) + "; or use 127.0.0.1:PORT");
    }
  }

  private Proxies proxies() {
    try {
      return Proxies.of(trustedProxies);
    } catch (IllegalArgumentException e) {
      throw wrong("--trusted-proxies: " + e.getMessage());
    }
  }

  private Tls tls() {
    try {
      return Tls.of(certificate, key, clientAuthority, clientAuthority != null && tokens == null);
    } catch (IllegalArgumentException e) {
      throw wrong("--tls: " + e.getMessage());
    }
  }

  Access access() {
    if (tokens == null && clientAuthority == null) {
      return Access.withoutLogin();
    }
    Clock clock = Clock.systemUTC();
    try {
      Role role = clientAuthority == null ? null : clientRole == null ? Role.VIEW : Role.of(clientRole);
      Tokens file = tokens == null ? null : new Tokens(tokens, clock);
      if (file != null) {
        file.list();
      }
      return Access.withLogin(file, role, clock);
    } catch (Refusal e) {
      throw wrong("--tokens: " + e.getMessage());
    } catch (IllegalArgumentException e) {
      throw wrong("--tls-client-role: " + e.getMessage());
    }
  }

  Audit audit() {
    try {
      return audit == null ? Audit.none() : Audit.of(audit, Clock.systemUTC());
    } catch (IOException e) {
      throw wrong("--audit " + audit + " cannot be opened for appending: " + e);
    }
  }

  private int port(String text) {
    try {
      int port = Integer.parseInt(text);
      if (port >= 0 && port <= LARGEST_PORT) {
        return port;
      }
    } catch (NumberFormatException e) {
      // the same message
    }
    throw wrong("--listen " + listen + ": HOST:PORT is expected");
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
