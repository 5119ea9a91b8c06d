package io.lifeline.nats;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** Creates TLS contexts from PEM files. */
public final class TlsContext {

  private static final Pattern PKCS8 =
      Pattern.compile("-----BEGIN PRIVATE KEY-----(.*?)-----END PRIVATE KEY-----", Pattern.DOTALL);
  private static final char[] NO_PASSWORD = {};

  private TlsContext() {}

  /**
   * Creates a context. Without an authority, the CA certificates of the Java installation apply. Certificate and key
   * are set together or not at all. Each handshake reads the files again, so replaced ones apply from the next
   * connection on.
   *
   * @throws IllegalArgumentException with a message for the user if the files cannot be used
   */
  public static SSLContext of(Optional<Path> authority, Optional<Path> certificate, Optional<Path> key) {
    if (certificate.isPresent() != key.isPresent()) {
      throw new IllegalArgumentException("the client certificate and its private key must be set together");
    }
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          certificate.isPresent()
              ? new KeyManager[] {new CurrentIdentity(() -> keyManager(certificate.get(), key.get()))} : null,
          new TrustManager[] {new HostNames(authority.isPresent() ? () -> trust(authority) : fixed(trust(authority)))},
          null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException("the TLS files cannot be used: " + e.getMessage());
    }
  }

  /**
   * Creates the context of a server. Certificates of clients must come from the authority, if there is one.
   *
   * @throws IllegalArgumentException with a message for the user if the files cannot be used
   */
  public static SSLContext ofServer(Path certificate, Path key, Optional<Path> clientAuthority) {
    try {
      requirePair(certificate, key);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(identity(certificate, key).getKeyManagers(),
          clientAuthority.isPresent() ? new TrustManager[] {trust(clientAuthority)} : null, null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException("the TLS files cannot be used: " + e.getMessage());
    }
  }

  private static X509ExtendedKeyManager keyManager(Path certificate, Path key)
      throws GeneralSecurityException, IOException {
    return (X509ExtendedKeyManager) identity(certificate, key).getKeyManagers()[0];
  }

  private static HostNames.Source fixed(X509ExtendedTrustManager manager) {
    return () -> manager;
  }

  /** Without this, every handshake would fail, and only the clients would see why. */
  private static void requirePair(Path certificate, Path key) throws GeneralSecurityException, IOException {
    PrivateKey secret = privateKey(key);
    String algorithm = switch (secret.getAlgorithm()) {
      case "RSA" -> "SHA256withRSA";
      case "EC" -> "SHA256withECDSA";
      default -> "Ed25519";
    };
    byte[] probe = {1};
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(secret);
    signature.update(probe);
    byte[] signed = signature.sign();
    boolean pair;
    try {
      signature.initVerify(certificates(certificate).iterator().next());
      signature.update(probe);
      pair = signature.verify(signed);
    } catch (InvalidKeyException | SignatureException e) {
      pair = false;
    }
    if (!pair) {
      throw new IllegalArgumentException(key + " is not the private key of the certificate in " + certificate);
    }
  }

  private static X509ExtendedTrustManager trust(Optional<Path> authority)
      throws GeneralSecurityException, IOException {
    TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(authority.isPresent() ? authorities(authority.get()) : null);
    for (TrustManager manager : factory.getTrustManagers()) {
      if (manager instanceof X509ExtendedTrustManager trusted) {
        return trusted;
      }
    }
    throw new GeneralSecurityException("this Java installation cannot check certificates");
  }

  private static KeyStore authorities(Path authority) throws GeneralSecurityException, IOException {
    KeyStore store = emptyStore();
    int number = 0;
    for (Certificate certificate : certificates(authority)) {
      store.setCertificateEntry("authority-" + number++, certificate);
    }
    return store;
  }

  private static KeyManagerFactory identity(Path certificate, Path key) throws GeneralSecurityException, IOException {
    KeyStore store = emptyStore();
    store.setKeyEntry("client", privateKey(key), NO_PASSWORD, certificates(certificate).toArray(new Certificate[0]));
    KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, NO_PASSWORD);
    return factory;
  }

  private static Collection<? extends Certificate> certificates(Path pem) throws GeneralSecurityException, IOException {
    try (InputStream in = Files.newInputStream(pem)) {
      Collection<? extends Certificate> found = CertificateFactory.getInstance("X.509").generateCertificates(in);
      if (!found.isEmpty()) {
        return found;
      }
    } catch (CertificateException e) {
      // the same message
    }
    throw new IllegalArgumentException(pem + " holds no certificate in PEM form");
  }

  private static PrivateKey privateKey(Path pem) throws GeneralSecurityException, IOException {
    Matcher block = PKCS8.matcher(Files.readString(pem, StandardCharsets.US_ASCII));
    if (!block.find()) {
      throw new IllegalArgumentException(
          pem + " holds no PKCS #8 private key; 'openssl pkcs8 -topk8 -nocrypt' converts others");
    }
    PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(block.group(1)));
    for (String algorithm : new String[] {"EC", "RSA", "Ed25519"}) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
      } catch (InvalidKeySpecException e) {
        // The file does not name its algorithm, so try the next one.
        continue;
      }
    }
    throw new IllegalArgumentException(pem + " holds a private key that is neither EC, RSA nor Ed25519");
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    return store;
  }
}
