package io.lifeline.console.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class TokensTest {
  private static final Identity ROOT = new Identity("command:root", Role.ADMIN, null, "here", Limits.NONE);

  @TempDir Path directory;
  private final MovableClock clock = new MovableClock();
  private Path file;
  private Tokens tokens;

  @BeforeEach
  void inANewFile() {
    file = directory.resolve("tokens.json");
    tokens = new Tokens(file, clock);
  }

  static TokenRequest asked(String name, String role) {
    return new TokenRequest(name, role, null, null, null, null, null);
  }

  private static void refused(int status, String why, ThrowingCallable work) {
    assertThatThrownBy(work).isInstanceOfSatisfying(Refusal.class, e -> assertThat(e.status()).isEqualTo(status))
        .hasMessageContaining(why);
  }

  @Test
  void theFileIsPrivateAndHoldsNoSecret() throws Exception {
    Tokens.Issued ann = tokens.issue(asked("ann", "admin"), ROOT);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
    assertThat(ann.secret()).matches("llc_[A-Za-z0-9_-]{43}");
    assertThat(Files.readString(file)).contains(Secret.hash(ann.secret()))
        .doesNotContain(ann.secret().substring(Secret.PREFIX.length()));
    assertThat(tokens.issue(asked("bob", "view"), ROOT).secret()).isNotEqualTo(ann.secret());
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left.map(path -> path.getFileName().toString())).containsExactlyInAnyOrder("tokens.json",
          "tokens.json.lock");
    }
  }

  @Test
  void anotherProcessSeesAChangeAtOnce() {
    Tokens other = new Tokens(file, clock);
    String hash = Secret.hash(tokens.issue(asked("ann", "view"), ROOT).secret());
    assertThat(other.find(hash).name()).isEqualTo("ann");
    tokens.revoke("ann");
    assertThat(other.find(hash)).isNull();
  }

  @Test
  void aTokenIsRevokedWithThoseThatItIssued() {
    Token ann = tokens.issue(asked("ann", "admin"), ROOT).token();
    Token bob = tokens.issue(asked("bob", "activate"), ann.identity("there")).token();
    tokens.issue(asked("carl", "view"), bob.identity("there"));
    tokens.issue(asked("dora", "view"), ROOT);
    assertThat(tokens.revoke("ann")).containsExactlyInAnyOrder("ann", "bob", "carl");
    assertThat(tokens.list()).extracting(Token::name).containsExactly("dora");
    refused(404, "there is no token ann", () -> tokens.revoke("ann"));
  }

  @Test
  void aNameCountsOnceUntilItsTokenExpired() {
    tokens.issue(new TokenRequest("ann", "view", null, null, null, null, clock.instant().plusSeconds(5).toString()),
        ROOT);
    refused(409, "a token ann exists", () -> tokens.issue(asked("ann", "view"), ROOT));
    clock.move(Duration.ofSeconds(5));
    tokens.issue(asked("ann", "admin"), ROOT);
    assertThat(tokens.list()).extracting(Token::role).containsExactly(Role.ADMIN);
  }

  @Test
  void anIssuerGivesAtMostWhatItHas() {
    Token ann = tokens.issue(new TokenRequest("ann", "activate", "Ann Lee", List.of("disk.*"), List.of("copy"), "summary",
        clock.instant().plusSeconds(3600).toString()), ROOT).token();
    Identity issuer = ann.identity("there");
    assertThat(tokens.issue(asked("same", "activate"), issuer).token())
        .extracting(Token::types, Token::programs, Token::resolution, Token::until, Token::onBehalfOf, Token::issuedBy)
        .containsExactly(List.of("disk.*"), List.of("copy"), "summary", ann.until(), "Ann Lee", "ann");
    tokens.issue(new TokenRequest("less", "view", "Bo", List.of("disk.read"), List.of("copy"), "off",
        clock.instant().plusSeconds(60).toString()), issuer);
    String late = clock.instant().plusSeconds(7200).toString();
    for (TokenRequest more : List.of(
        asked("more", "admin"),
        new TokenRequest("more", "view", null, List.of("net.*"), null, null, null),
        new TokenRequest("more", "view", null, List.of(), null, null, null),
        new TokenRequest("more", "view", null, null, List.of("copy", "other"), null, null),
        new TokenRequest("more", "view", null, null, null, "full", null),
        new TokenRequest("more", "view", null, null, null, null, late))) {
      refused(403, "ann ", () -> tokens.issue(more, issuer));
    }
    assertThat(tokens.list()).extracting(Token::name).containsExactly("ann", "same", "less");
  }

  static Stream<String> hostileNames() {
    return Stream.of("", " ", "a b", "../etc", "<script>", "a\nb", "\u202eevil", "local", "command:root", "-rf",
        "certificate:x", "\u0000", "x".repeat(65), "n\u00e4me");
  }

  @ParameterizedTest
  @MethodSource("hostileNames")
  void otherNamesAreRefusedWithoutRepeatingWhatHarmsATerminal(String name) {
    assertThatThrownBy(() -> tokens.issue(asked(name, "view"), ROOT)).isInstanceOf(Refusal.class)
        .message().hasSizeLessThan(300).matches("[^\\p{Cntrl}\\u202e]*");
    assertThat(file).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "Ann\u202eeel", "Ann\nadmin", "\ud800"})
  void peopleHavePrintableNames(String person) {
    refused(400, "onBehalfOf must be", () ->
        tokens.issue(new TokenRequest("a", "view", person, null, null, null, null), ROOT));
  }

  @Test
  void requestsThatMakeNoSenseAreRefused() {
    refused(400, "'boss' is not a role", () -> tokens.issue(asked("a", "boss"), ROOT));
    refused(400, "'null' is not a role", () -> tokens.issue(asked("a", null), ROOT));
    refused(400, "is in the past", () ->
        tokens.issue(new TokenRequest("a", "view", null, null, null, null, "2020-01-01T00:00:00Z"), ROOT));
    refused(400, "is not a time", () ->
        tokens.issue(new TokenRequest("a", "view", null, null, null, null, "tomorrow"), ROOT));
    refused(400, "types has the pattern 'a b'", () ->
        tokens.issue(new TokenRequest("a", "view", null, List.of("a b"), null, null, null), ROOT));
    refused(400, "is not a resolution", () ->
        tokens.issue(new TokenRequest("a", "view", null, null, null, "more", null), ROOT));
  }

  @Test
  void nobodyHasAccessByAFileThatOthersMayWriteOrThatIsBrokenOrGone() throws Exception {
    String hash = Secret.hash(tokens.issue(asked("ann", "view"), ROOT).secret());
    String good = Files.readString(file);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
    refused(503, "other users may write it", () -> new Tokens(file, clock).find(hash));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    for (String broken : List.of("", "null", "[]", "{}", "{\"tokens\":[null]}", good + "x", good.replace("view", "root"),
        good.replace("\"hash\"", "\"hush\""), good.replaceFirst("\"until\" : \"[^\"]*\"", "\"until\" : null"))) {
      Files.writeString(file, broken);
      refused(503, "cannot be read", () -> tokens.find(hash));
      refused(503, "cannot be read", () -> tokens.issue(asked("bob", "view"), ROOT));
    }
    Files.writeString(file, good);
    assertThat(tokens.find(hash)).isNotNull();
    Files.delete(file);
    refused(503, "there is no such file; lifeline-console token issue creates it", () -> tokens.find(hash));
  }

  @Test
  void aFolderThatIsMissingIsNamed() {
    refused(503, "the folder must exist", () ->
        new Tokens(directory.resolve("missing/tokens.json"), clock).issue(asked("ann", "view"), ROOT));
  }

  @Test
  void changesOfSeveralThreadsAreAllKept() throws Exception {
    int each = 20;
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Object>> work = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        int number = thread;
        work.add(() -> {
          for (int i = 0; i < each; i++) {
            tokens.issue(asked("t" + number + "-" + i, "view"), ROOT);
          }
          return null;
        });
      }
      for (Future<Object> done : threads.invokeAll(work, 60, TimeUnit.SECONDS)) {
        done.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(tokens.list()).hasSize(4 * each);
  }
}
