package io.lifeline.nats;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;

/** The client's certificate and key, read again when a handshake chooses them. */
final class CurrentIdentity extends X509ExtendedKeyManager {

  /** Makes the key manager of one handshake. */
  interface Source {
    X509ExtendedKeyManager get() throws GeneralSecurityException, IOException;
  }

  private final Source source;
  private volatile X509ExtendedKeyManager current;

  /** @throws IllegalArgumentException with a message for the user if the files cannot be used now */
  CurrentIdentity(Source source) throws GeneralSecurityException, IOException {
    this.source = source;
    this.current = source.get();
  }

  /** Keeps the former ones while files are being replaced: the server then decides. */
  private X509ExtendedKeyManager renewed() {
    try {
      current = source.get();
    } catch (GeneralSecurityException | IOException | IllegalArgumentException e) {
      return current;
    }
    return current;
  }

  @Override
  public String chooseClientAlias(String[] keyType, Principal[] issuers, Socket socket) {
    return renewed().chooseClientAlias(keyType, issuers, socket);
  }

  @Override
  public String chooseEngineClientAlias(String[] keyType, Principal[] issuers, SSLEngine engine) {
    return renewed().chooseEngineClientAlias(keyType, issuers, engine);
  }

  @Override
  public X509Certificate[] getCertificateChain(String alias) {
    return current.getCertificateChain(alias);
  }

  @Override
  public PrivateKey getPrivateKey(String alias) {
    return current.getPrivateKey(alias);
  }

  @Override
  public String[] getClientAliases(String keyType, Principal[] issuers) {
    return current.getClientAliases(keyType, issuers);
  }

  @Override
  public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
    return current.chooseServerAlias(keyType, issuers, socket);
  }

  @Override
  public String[] getServerAliases(String keyType, Principal[] issuers) {
    return current.getServerAliases(keyType, issuers);
  }
}
