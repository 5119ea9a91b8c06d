package io.lifeline.console.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.console.archive.Answer;
import io.lifeline.console.archive.Question;
import io.lifeline.console.archive.QuestionException;
import io.lifeline.console.archive.Workers;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Asks the archive, and makes answers of its errors. */
public final class ArchiveQuestions {
  private static final long KEPT_NS = TimeUnit.SECONDS.toNanos(5);
  /** Answers that take long are kept for so many times as long: they take a part of a processor at most. */
  private static final long KEPT_TIMES = 4;
  private static final long TURN_S = 10;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Workers workers;
  private final Map<String, Kept> kept = new ConcurrentHashMap<>();

  /** An answer that is the same for all, and the turn to make it anew. */
  private static final class Kept {
    final ReentrantLock turn = new ReentrantLock(true);
    Content answer;
    long untilNs;
  }

  /** @param workers null if there is no archive */
  public ArchiveQuestions(Workers workers) {
    this.workers = workers;
  }

  /** Returns the questions by name, for the workers. */
  public static Map<String, Question> all() {
    Map<String, Question> all = new HashMap<>();
    all.putAll(ArchiveOperations.QUESTIONS);
    all.putAll(ReportOperations.QUESTIONS);
    all.putAll(SessionOperations.QUESTIONS);
    all.putAll(TraceOperations.QUESTIONS);
    all.putAll(SessionEmitters.QUESTIONS);
    return Map.copyOf(all);
  }

  boolean exists() {
    return workers != null;
  }

  /** Asks for a caller. */
  Content ask(Call call, String question, Map<String, ?> arguments) {
    return ask(call.share(), question, arguments);
  }

  private Content ask(String share, String question, Map<String, ?> arguments) {
    if (workers == null) {
      throw new Problem(409, "this console has no archive: start it with the archive's directory or URL");
    }
    try {
      Answer answer = workers.ask(share, question, arguments);
      return new Content(answer.mediaType(), answer.bytes());
    } catch (QuestionException e) {
      throw new Problem(e.status(), e.getMessage());
    }
  }

  /** As {@link #ask}; returns the value that the answer expresses. */
  <T> T value(Call call, String question, Map<String, ?> arguments, TypeReference<T> type) {
    try {
      return JSON.readValue(ask(call, question, arguments).bytes(), type);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the answer to " + question + " has another shape", e);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Asks for what is the same for all callers, and may be some seconds old: pages ask again and again. It takes no
   * caller's share, for whose end all others would wait.
   */
  Content askShared(String question) {
    Kept shared = kept.computeIfAbsent(question, any -> new Kept());
    takeTurn(shared.turn);
    try {
      long begunNs = System.nanoTime();
      if (shared.answer == null || begunNs - shared.untilNs >= 0) {
        shared.answer = null;
        shared.answer = ask((String) null, question, Map.of());
        long nowNs = System.nanoTime();
        shared.untilNs = nowNs + Math.max(KEPT_NS, KEPT_TIMES * (nowNs - begunNs));
      }
      return shared.answer;
    } finally {
      shared.turn.unlock();
    }
  }

  private static void takeTurn(ReentrantLock turn) {
    try {
      if (turn.tryLock(TURN_S, TimeUnit.SECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new Problem(503, "the same question of others has been running for " + TURN_S + " s: try again later");
  }
}
