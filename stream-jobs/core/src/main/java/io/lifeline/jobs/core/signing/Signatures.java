package io.lifeline.jobs.core.signing;

import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.config.ConfigException;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies the signatures of batches: FORMAT.md, section 12. Thread-safe. */
public final class Signatures {

  private static final String ALGORITHM = "HmacSHA256";
  private static final String KEY_PATTERN = "[0-9a-fA-F]{64}";

  private final List<SecretKeySpec> keys;

  private Signatures(List<SecretKeySpec> keys) {
    this.keys = keys;
  }

  /**
   * Requires a signature by one of these keys; without keys, accepts all batches.
   *
   * @param files 64 hex digits each; others must not have access
   */
  public static Signatures of(List<Path> files) {
    List<SecretKeySpec> keys = new ArrayList<>();
    for (Path file : files) {
      keys.add(new SecretKeySpec(HexFormat.of().parseHex(digits(file)), ALGORITHM));
    }
    return new Signatures(List.copyOf(keys));
  }

  /**
   * Returns why a message is rejected; null if it is accepted.
   *
   * @param batch null counts as empty
   * @param signature of the message; null if it has none
   */
  public Rejection refusal(Position position, byte[] batch, String signature) {
    if (allow(batch == null ? new byte[0] : batch, signature)) {
      return null;
    }
    String message = signature == null ? "it is not signed" : "its signature matches none of the keys";
    return new Rejection(position, "unsigned", 0, message, null);
  }

  boolean allow(byte[] batch, String signature) {
    if (keys.isEmpty()) {
      return true;
    }
    if (signature == null || !signature.matches(KEY_PATTERN)) {
      return false;
    }
    byte[] claimed = HexFormat.of().parseHex(signature);
    return keys.stream().anyMatch(key -> MessageDigest.isEqual(claimed, sign(key, batch)));
  }

  private static byte[] sign(SecretKeySpec key, byte[] batch) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return mac.doFinal(batch);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }

  private static String digits(Path file) {
    String remedy = "; `(umask 077; openssl rand -hex 32 >" + file + ")` makes a key";
    try {
      Set<PosixFilePermission> rights = Files.getPosixFilePermissions(file);
      if (rights.contains(PosixFilePermission.OTHERS_READ) || rights.contains(PosixFilePermission.OTHERS_WRITE)) {
        throw new ConfigException("the signing key " + file + " is open to others: chmod 600 " + file);
      }
      String text = Files.readString(file, StandardCharsets.US_ASCII).strip();
      if (!text.matches(KEY_PATTERN)) {
        throw new ConfigException("the signing key " + file + " is not 64 hex digits" + remedy);
      }
      return text;
    } catch (CharacterCodingException e) {
      throw new ConfigException("the signing key " + file + " is not 64 hex digits" + remedy);
    } catch (IOException e) {
      throw new ConfigException("the signing key " + file + " cannot be read: " + e + remedy);
    }
  }
}
