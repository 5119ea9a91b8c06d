package io.lifeline.jobs.live;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.lifeline.jobs.core.config.JobConfig;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The activations on the control topic of a broker. The program {@code lifeline-activate} does the work: it has the
 * grammar of the lines, which emitters share, and the access to both brokers. Thread-safe.
 */
public final class Activations {
  private static final String PROGRAM = "lifeline-activate";
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int EXIT_USAGE = 2;
  /** Of characters; the grammar allows far fewer, and systems refuse to start a program with very long ones. */
  private static final int LONGEST_WORD = 10_000;
  /** In which Java gives words to programs; what it has no code for would become a question mark. */
  private static final Charset OF_WORDS = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
  private static final ObjectMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private final JobConfig broker;
  private final Programs programs;

  public Activations(JobConfig broker, Programs programs) {
    this.broker = broker;
    this.programs = programs;
  }

  public List<Activation> list() throws ActivationException, InterruptedException {
    return List.of(parse(run(List.of("list")), Activation[].class));
  }

  /** Returns what the line selects, without setting it. */
  public Activation check(String id, String line, Duration time) throws ActivationException, InterruptedException {
    return parse(run(set(id, line, time, List.of("--dry-run"))), Activation.class);
  }

  /** Sets an activation, or replaces the one with this id; null for a random id. */
  public Activation set(String id, String line, Duration time) throws ActivationException, InterruptedException {
    return parse(run(set(id, line, time, List.of())), Activation.class);
  }

  /** Ends an activation; it is illegal to end one that is not there. */
  public void end(String id) throws ActivationException, InterruptedException {
    run(List.of("end", "--", id));
  }

  private static List<String> set(String id, String line, Duration time, List<String> more) {
    List<String> words = new ArrayList<>(List.of("set"));
    words.addAll(more);
    if (id != null) {
      words.addAll(List.of("--id", id));
    }
    if (time != null) {
      words.addAll(List.of("--for", time.toSeconds() + "s"));
    }
    words.addAll(List.of("--", line)); // which may begin with a dash
    return words;
  }

  private String run(List<String> words) throws ActivationException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of("--json"));
    arguments.addAll(words);
    requirePassable(arguments);
    Process process = null;
    try {
      process = programs.command(PROGRAM, arguments, broker).start();
      process.getOutputStream().close();
      return answer(process);
    } catch (IOException | UncheckedIOException | ExecutionException e) {
      throw new ActivationException(false, "activations need the program " + PROGRAM + ": " + e.getMessage());
    } catch (TimeoutException e) {
      throw new ActivationException(false, "the broker did not answer " + PROGRAM + " within " + PATIENCE.toSeconds()
          + " s");
    } finally {
      if (process != null) {
        process.destroyForcibly();
      }
    }
  }

  private static void requirePassable(List<String> words) throws ActivationException {
    CharsetEncoder encoder = OF_WORDS.newEncoder();
    for (String word : words) {
      if (word.indexOf('\0') >= 0) { // which no program can be given
        throw new ActivationException(true, "the line or the id has a null character");
      }
      if (word.length() > LONGEST_WORD) {
        throw new ActivationException(true, "the line or the id is too long: a line has at most 1024 bytes");
      }
      if (!encoder.canEncode(word)) {
        throw new ActivationException(true, "the line or the id has a character that " + OF_WORDS
            + " cannot encode: leave it out, or start this program with LC_ALL=C.UTF-8");
      }
    }
  }

  private static String answer(Process process)
      throws ActivationException, InterruptedException, ExecutionException, TimeoutException {
    CompletableFuture<String> out = CompletableFuture.supplyAsync(() -> text(process.getInputStream()));
    CompletableFuture<String> errors = CompletableFuture.supplyAsync(() -> text(process.getErrorStream()));
    if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new TimeoutException();
    }
    if (process.exitValue() == 0) {
      return out.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    }
    String why = errors.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS).strip();
    throw new ActivationException(process.exitValue() == EXIT_USAGE,
        why.replaceFirst("^" + PROGRAM + ": ", "").replace(" (try --help)", ""));
  }

  private static String text(InputStream stream) {
    try (stream) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static <T> T parse(String json, Class<T> type) throws ActivationException {
    try {
      return JSON.readValue(json, type);
    } catch (IOException e) {
      throw new ActivationException(false, PROGRAM + " printed something that is not its JSON: is it of this version?");
    }
  }
}
