package io.lifeline.nats;

import java.net.Socket;
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

  private final X509ExtendedTrustManager trusted;

  HostNames(X509ExtendedTrustManager trusted) {
    this.trusted = trusted;
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) throws CertificateException {
    if (!(socket instanceof SSLSocket tls)) {
      throw new CertificateException("the name of the broker is unknown, so its certificate cannot be verified");
    }
    SSLParameters parameters = tls.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm(COMPARED);
    tls.setSSLParameters(parameters);
    trusted.checkServerTrusted(chain, authType, socket);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm(COMPARED);
    engine.setSSLParameters(parameters);
    trusted.checkServerTrusted(chain, authType, engine);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
    throw new CertificateException("the name of the broker is unknown, so its certificate cannot be verified");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) throws CertificateException {
    trusted.checkClientTrusted(chain, authType, socket);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    trusted.checkClientTrusted(chain, authType, engine);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
    trusted.checkClientTrusted(chain, authType);
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return trusted.getAcceptedIssuers();
  }
}
