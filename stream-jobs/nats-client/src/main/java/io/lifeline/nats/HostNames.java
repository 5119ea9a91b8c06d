package io.lifeline.nats;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Adds host name verification to another trust manager. The NATS client does not verify host names, so any certificate
 * of the same CA would be accepted as the broker's.
 */
final class HostNames extends X509ExtendedTrustManager {

  /** Java's name for host name verification by RFC 2818. */
  private static final String COMPARED = "HTTPS";

  /** Makes the trust manager of one handshake. */
  interface Source {
    X509ExtendedTrustManager get() throws GeneralSecurityException, IOException;
  }

  private final Source trusted;

  /** @throws IllegalArgumentException with a message for the user if there is no trust manager now */
  HostNames(Source trusted) throws GeneralSecurityException, IOException {
    this.trusted = trusted;
    trusted.get();
  }

  private X509ExtendedTrustManager trusted() throws CertificateException {
    try {
      return trusted.get();
    } catch (GeneralSecurityException | IOException | IllegalArgumentException e) {
      throw new CertificateException("the CA certificates cannot be used: " + e.getMessage(), e);
    }
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) throws CertificateException {
    if (!(socket instanceof SSLSocket tls)) {
      throw new CertificateException("the name of the broker is unknown, so its certificate cannot be verified");
    }
    SSLParameters parameters = tls.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm(COMPARED);
    tls.setSSLParameters(parameters);
    trusted().checkServerTrusted(chain, authType, socket);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm(COMPARED);
    engine.setSSLParameters(parameters);
    trusted().checkServerTrusted(chain, authType, engine);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
    throw new CertificateException("the name of the broker is unknown, so its certificate cannot be verified");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) throws CertificateException {
    trusted().checkClientTrusted(chain, authType, socket);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    trusted().checkClientTrusted(chain, authType, engine);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
    trusted().checkClientTrusted(chain, authType);
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    try {
      return trusted().getAcceptedIssuers();
    } catch (CertificateException e) {
      return new X509Certificate[0]; // only servers ask
    }
  }
}
