package io.lifeline.console.access;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * The file of tokens. It holds hashes only, is replaced as a whole, and is read again when it changed, so that what one
 * process issues or revokes counts in another at once.
 */
public final class Tokens {
  private static final int MOST = 10_000;
  private static final long LARGEST_FILE = 64L << 20;
  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();
  private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rw-------");

  private final Path file;
  private final Clock clock;
  private Stamp read;
  private List<Token> tokens = List.of();

  public Tokens(Path file, Clock clock) {
    this.file = file;
    this.clock = clock;
  }

  /** A token that was just issued: the only time that its secret is known. */
  public record Issued(Token token, String secret) {}

  private record Content(List<Token> tokens) {}

  /** Tells versions of the file apart. */
  private record Stamp(Object key, long modified, long size) {}

  /**
   * Issues a token that may do at most what its issuer may.
   *
   * @throws Refusal if the issuer may not, the request is invalid, or the file cannot be used
   */
  public Issued issue(TokenRequest request, Identity issuer) {
    String secret = Secret.create();
    Token token = Delegation.token(request, issuer, Secret.hash(secret), clock.instant());
    change(old -> {
      if (old.stream().anyMatch(one -> one.name().equals(token.name()))) {
        throw new Refusal(409, "a token " + token.name() + " exists: choose another name, or revoke it first");
      }
      if (old.size() >= MOST) {
        throw new Refusal(409, file + " holds " + MOST + " tokens, the most that it may: revoke some");
      }
      List<Token> all = new ArrayList<>(old);
      all.add(token);
      return all;
    });
    return new Issued(token, secret);
  }

  /**
   * Revokes a token and those that it issued, directly or not.
   *
   * @return the names of all that were revoked
   */
  public List<String> revoke(String name) {
    List<String> revoked = new ArrayList<>();
    change(old -> {
      Set<String> gone = new HashSet<>(Set.of(name));
      for (int before = 0; before < gone.size(); ) {
        before = gone.size();
        old.stream().filter(one -> gone.contains(one.issuedBy())).forEach(one -> gone.add(one.name()));
      }
      old.stream().filter(one -> gone.contains(one.name())).forEach(one -> revoked.add(one.name()));
      if (!revoked.contains(name)) {
        throw new Refusal(404, "there is no token " + Names.printable(name));
      }
      return old.stream().filter(one -> !gone.contains(one.name())).toList();
    });
    return revoked;
  }

  /** Returns all tokens, with those that expired since the last change. */
  public synchronized List<Token> list() {
    try {
      PosixFileAttributes now = Files.readAttributes(file, PosixFileAttributes.class);
      Stamp stamp = new Stamp(now.fileKey(), now.lastModifiedTime().to(TimeUnit.NANOSECONDS),
          now.size());
      if (!stamp.equals(read)) {
        requirePrivate(now);
        tokens = load();
        read = stamp;
      }
      return tokens;
    } catch (IOException e) {
      read = null; // nobody keeps access that the file does not give
      throw new Refusal(503, "the tokens in " + file + " cannot be read: " + reason(e));
    }
  }

  /** Returns the token with a hash, expired or not; null if there is none. */
  Token find(String hash) {
    Token found = null;
    for (Token token : list()) { // to the end, so that the time does not depend on which one it is
      if (Secret.same(token.hash(), hash)) {
        found = token;
      }
    }
    return found;
  }

  private void requirePrivate(PosixFileAttributes attributes) throws IOException {
    if (!attributes.isRegularFile() || attributes.size() > LARGEST_FILE) {
      throw new IOException("it is not a file of at most " + LARGEST_FILE + " bytes");
    }
    if (attributes.permissions().contains(PosixFilePermission.GROUP_WRITE)
        || attributes.permissions().contains(PosixFilePermission.OTHERS_WRITE)) {
      throw new IOException("other users may write it, and so give themselves access: chmod 600 " + file);
    }
  }

  private List<Token> load() throws IOException {
    Content content = JSON.readValue(file.toFile(), Content.class);
    if (content == null || content.tokens() == null || content.tokens().contains(null)) {
      throw new IOException("it is not a file of tokens");
    }
    return List.copyOf(content.tokens());
  }

  /** Replaces the file; other processes that do the same wait. */
  private synchronized void change(UnaryOperator<List<Token>> how) {
    try {
      Path target = Files.exists(file) ? file.toRealPath() : file.toAbsolutePath();
      Path lock = target.resolveSibling(target.getFileName() + ".lock");
      try (FileChannel channel = FileChannel.open(lock, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
              PosixFilePermissions.asFileAttribute(PRIVATE));
          var held = channel.lock()) {
        Instant now = clock.instant();
        List<Token> old = Files.exists(target) ? list() : List.of();
        write(target, how.apply(old.stream().filter(one -> !one.expired(now)).toList()));
      }
    } catch (IOException e) {
      throw new Refusal(503, "the tokens in " + file + " cannot be changed: " + e
          + "; the folder must exist and be writable");
    }
  }

  private static void write(Path target, List<Token> tokens) throws IOException {
    byte[] bytes = JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(new Content(tokens));
    Path temporary = Files.createTempFile(target.getParent(), target.getFileName() + ".", ".tmp",
        PosixFilePermissions.asFileAttribute(PRIVATE));
    try {
      try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
        ByteBuffer left = ByteBuffer.wrap(bytes);
        while (left.hasRemaining()) {
          channel.write(left);
        }
        channel.force(true);
      }
      if (Files.exists(target) && !Files.getOwner(target).equals(Files.getOwner(temporary))) {
        Files.setOwner(temporary, Files.getOwner(target)); // root must not take the file from the console's user
      }
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
    try (FileChannel folder = FileChannel.open(target.getParent(), StandardOpenOption.READ)) {
      folder.force(true);
    }
  }

  private static String reason(IOException e) {
    if (e instanceof NoSuchFileException) {
      return "there is no such file; lifeline-console token issue creates it";
    }
    return e.getClass() == IOException.class ? e.getMessage() : e.toString();
  }
}
