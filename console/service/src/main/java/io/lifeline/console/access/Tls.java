package io.lifeline.console.access;

import io.lifeline.nats.TlsContext;
import java.nio.file.Path;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * How the server encrypts.
 *
 * @param asksClients whether clients may show a certificate
 * @param needsClients whether they must
 */
public record Tls(SSLContext context, boolean asksClients, boolean needsClients) {
  /**
   * @param clientAuthority issues the certificates of clients; null if they need none
   * @throws IllegalArgumentException with a message for the user if the files cannot be used
   */
  public static Tls of(Path certificate, Path key, Path clientAuthority, boolean needsClients) {
    return new Tls(TlsContext.ofServer(certificate, key, Optional.ofNullable(clientAuthority)),
        clientAuthority != null, needsClients);
  }
}
