package io.lifeline.console.web;

import io.lifeline.console.access.Identity;
import io.lifeline.console.access.Limits;
import io.lifeline.console.access.Resolution;
import io.lifeline.console.access.Shares;
import io.lifeline.jobs.core.directory.Answer;
import io.lifeline.jobs.core.directory.Directory;
import io.lifeline.jobs.core.directory.EmitterRow;
import io.lifeline.jobs.live.Activation;
import io.lifeline.jobs.live.ActivationException;
import io.lifeline.jobs.live.Activations;
import io.lifeline.jobs.live.Cost;
import io.lifeline.jobs.live.Following;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/** Activations: what is in force, who follows, what it would cost; set, extended and ended. */
public final class ActivationOperations implements Operations {
  private static final int MOST_SECONDS = 86_400;
  private static final int MOST_NAMED = 20;
  private static final int MOST_REMEMBERED = 1000;
  /** Each starts a process. */
  private static final int MOST_ESTIMATES = 8;
  private static final int MOST_ESTIMATES_PER_CALLER = 2;
  private static final long TURN_MS = 10_000;
  /** Of an illegal line nobody knows what it was meant for. */
  private static final Limits ANYTHING = new Limits(List.of(), List.of(), Resolution.of("off"), Instant.EPOCH);
  /** Many pages ask for the list; the broker is asked no more often than this. */
  private static final long LIST_LASTS_MS = 1000;
  private static final String BLANKS = "[ \t\r]+";
  /** Words of a line that are set anew when it is extended. */
  private static final List<String> TIMES = List.of("for=", "issued=", "id=");

  private static final Parameter<String> LINE =
      Parameter.text("line", "the activation: pattern, resolution, options").mandatory();
  private static final Parameter<String> ID = Parameter.text("id", "its id").ofPath();
  private static final Parameter<String> SEEN =
      Parameter.text("line", "the line that is to be ended; refused if somebody has replaced it");

  private final Activations activations;
  private final Directory directory;
  /** One change at a time: what a person has seen is compared with what is there. */
  private final ReentrantLock changing = new ReentrantLock();
  /** By the line, which has the time when it was set. */
  private final Map<String, Setter> setBy = Collections.synchronizedMap(new LinkedHashMap<>() {
    private static final long serialVersionUID = 1;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Setter> eldest) {
      return size() > MOST_REMEMBERED;
    }
  });
  private final Shares estimates = new Shares(MOST_ESTIMATES, MOST_ESTIMATES_PER_CALLER);
  private final ReentrantLock listing = new ReentrantLock();
  private List<Activation> listed;
  private Problem notListed;
  private long listedFromNs;
  private long listedAtMs;

  /** @param activations null without a broker */
  public ActivationOperations(Activations activations, Directory directory) {
    this.activations = activations;
    this.directory = directory;
  }

  @Override
  public List<Operation> all() {
    return List.of(
        Operation.get("/activations", "What is switched on, and which emitters follow", Rows.class,
            call -> rows()),
        Operation.get("/estimate", "What a line would bring, from the rates of the last minute",
            Cost.class, this::estimate, LINE),
        Operation.post("/activations", "Switch on; replaces the activation of the same id", Wish.class, Row.class,
            201, this::set),
        Operation.post("/activations/{id}/extend", "Give an activation a new time from now on", Extension.class,
            Row.class, 200, this::extend, ID),
        Operation.delete("/activations/{id}", "End an activation", this::end, ID, SEEN));
  }

  private Object estimate(Call call) throws InterruptedException {
    try (Shares.Place place = estimates.take(call.share(), TURN_MS)) {
      if (place == null) {
        throw new Problem(503, "other estimates have been running for " + TURN_MS / 1000 + " s: try again later");
      }
      return Cost.of(check(null, call.get(LINE), null), directory);
    }
  }

  record Member(String program, String host, long pid, String reason) {}

  /**
   * @param state {@code running}, {@code over} or {@code illegal}
   * @param why it is illegal
   * @param following emitters that said it is in force; of each list the first are named
   * @param silent emitters that it is for, and that have not answered
   * @param by who set it here, for whom, and from where; null if it was not set by this console
   */
  record Row(String id, String line, String state, Long remainingMs, String why, String resolution, String by,
      int following, int refusing, int silent, List<Member> refusals, List<Member> unanswered) {}

  record Rows(List<Row> rows) {}

  /**
   * @param id null for a random one
   * @param confirmed that it may bring much; null is no
   */
  record Wish(String line, Integer seconds, String id, Boolean confirmed) implements Audited {
    @Override
    public Map<String, Object> audited() {
      Map<String, Object> audited = new LinkedHashMap<>();
      audited.put("line", line);
      audited.put("seconds", seconds);
      audited.put("id", id);
      audited.put("confirmed", confirmed);
      return audited;
    }
  }

  /** @param line what the person has seen; refused if somebody has replaced it */
  record Extension(int seconds, String line) implements Audited {
    @Override
    public Map<String, Object> audited() {
      Map<String, Object> audited = new LinkedHashMap<>();
      audited.put("line", line);
      audited.put("seconds", seconds);
      return audited;
    }
  }

  private Rows rows() throws InterruptedException {
    List<EmitterRow> emitters = directory == null ? List.of() : directory.rows();
    return new Rows(list(false).stream().map(activation -> row(activation, emitters)).toList());
  }

  private Row row(Activation activation, List<EmitterRow> emitters) {
    Following all = Following.of(activation, emitters);
    return new Row(activation.id(), activation.line(), activation.state(), activation.remainingMs(), activation.why(),
        activation.resolution(), by(setBy.get(activation.line())),
        all.following().size(), all.refusing().size(), all.silent().size(),
        members(all.refusing(), activation.id()), members(all.silent(), activation.id()));
  }

  /**
   * Who set an activation.
   *
   * @param tokenHash of the token that was used; another one may get its name when it is gone. Null for none
   */
  private record Setter(Identity who, String tokenHash) {
    static Setter of(Call call) {
      return new Setter(call.identity(), call.login().tokenHash());
    }

    boolean is(Setter other) {
      return who.name().equals(other.who.name()) && Objects.equals(tokenHash, other.tokenHash);
    }
  }

  private static String by(Setter setter) {
    Identity who = setter == null ? null : setter.who();
    return who == null ? null
        : who.name() + (who.onBehalfOf() == null ? "" : " for " + who.onBehalfOf()) + " from " + who.from();
  }

  private static List<Member> members(List<EmitterRow> emitters, String id) {
    return emitters.stream().limit(MOST_NAMED).map(emitter -> {
      Answer answer = emitter.answers().get(id);
      return new Member(emitter.program(), emitter.host(), emitter.pid(), answer == null ? null : answer.reason());
    }).toList();
  }

  private Row set(Call call) throws InterruptedException {
    Wish wish = call.body(Wish.class);
    if (wish.line() == null) {
      throw new Problem(400, "line is missing: the activation, like 'disk.* full'");
    }
    Duration time = wish.seconds() == null ? null : seconds(wish.seconds());
    Activation wanted = check(wish.id(), wish.line(), time);
    call.requireWithinLimits(limits(wanted));
    Cost cost = Cost.of(wanted, directory);
    if (cost.confirm() && !Boolean.TRUE.equals(wish.confirmed())) {
      throw new Problem(409, cost.text() + "; set confirmed to do it").with("cost", cost);
    }
    changing.lock();
    try {
      if (wish.id() != null) {
        Activation there = there(wish.id());
        if (there != null) {
          requireMayEnd(call, there);
        }
      }
      call.requireWithinLimits(limits(wanted)); // the login may have ended while others were served
      return set(call, wish.id(), wish.line(), time);
    } finally {
      changing.unlock();
    }
  }

  private Row extend(Call call) throws InterruptedException {
    Extension extension = call.body(Extension.class);
    Duration time = seconds(extension.seconds());
    changing.lock();
    try {
      Activation now = find(call.get(ID), extension.line());
      requireMayEnd(call, now); // a new time may be a shorter one
      String line = withoutTimes(now.line());
      call.requireWithinLimits(limits(check(now.id(), line, time)));
      return set(call, now.id(), line, time);
    } finally {
      changing.unlock();
    }
  }

  private Row set(Call call, String id, String line, Duration time) throws InterruptedException {
    Activation set = done(activations -> activations.set(id, line, time));
    setBy.put(set.line(), Setter.of(call));
    return row(set, List.of());
  }

  /** The word behind {@code when} is a field, whatever its name. */
  private static String withoutTimes(String line) {
    List<String> kept = new ArrayList<>();
    String before = "";
    for (String word : line.strip().split(BLANKS)) {
      if (before.equals("when") || TIMES.stream().noneMatch(word::startsWith)) {
        kept.add(word);
      }
      before = word;
    }
    return String.join(" ", kept);
  }

  /** Returns what an activation changes, as the limits of a token state it. */
  private static Limits limits(Activation activation) {
    String sample = activation.sample() == null ? "" : ":" + activation.sample();
    return new Limits(List.of(activation.pattern()), List.of(activation.program()),
        Resolution.of(activation.resolution() + sample), Instant.now().plusMillis(activation.remainingMs()));
  }

  /**
   * Who ends or replaces an activation has to be allowed the events that it is for. What keeps events back lets all
   * through when it is gone: then full has to be allowed as well, unless the caller has set it.
   */
  private void requireMayEnd(Call call, Activation activation) {
    if (activation.pattern() == null) {
      call.requireWithinLimits(ANYTHING);
      return;
    }
    Setter by = setBy.get(activation.line());
    boolean own = by != null && by.is(Setter.of(call));
    call.requireWithinLimits(new Limits(List.of(activation.pattern()), List.of(activation.program()),
        keepsBack(activation) && !own ? Resolution.FULL : Resolution.of("off"), Instant.EPOCH));
  }

  private static boolean keepsBack(Activation activation) {
    return activation.state().equals("running") && (!activation.resolution().equals("full")
        || Arrays.asList(activation.line().split(BLANKS)).contains("when"));
  }

  private Object end(Call call) throws InterruptedException {
    changing.lock();
    try {
      Activation now = find(call.get(ID), call.get(SEEN));
      requireMayEnd(call, now);
      done(activations -> {
        activations.end(now.id());
        return now;
      });
      return null;
    } finally {
      changing.unlock();
    }
  }

  /** Returns an activation as it is now; a problem if it is not there, or not as a person has seen it. */
  private Activation find(String id, String seen) throws InterruptedException {
    Activation found = there(id);
    if (found == null) {
      throw new Problem(404, "there is no activation " + id + ": it was ended, or its time is long over");
    }
    if (seen != null && !seen.equals(found.line())) {
      throw new Problem(409, "activation " + id + " was changed by somebody else meanwhile: it is now '" + found.line()
          + "'").with("line", found.line());
    }
    return found;
  }

  private Activation there(String id) throws InterruptedException {
    return list(true).stream().filter(one -> one.id().equals(id)).findFirst().orElse(null);
  }

  private static Duration seconds(int seconds) {
    if (seconds < 1 || seconds > MOST_SECONDS) {
      throw new Problem(400, "seconds must be a whole number from 1 to " + MOST_SECONDS);
    }
    return Duration.ofSeconds(seconds);
  }

  private Activation check(String id, String line, Duration time) throws InterruptedException {
    return ask(activations -> activations.check(id, line, time));
  }

  private List<Activation> list(boolean anew) throws InterruptedException {
    long askedNs = System.nanoTime();
    listing.lock();
    try {
      boolean meanwhile = listedFromNs - askedNs >= 0;
      if (notListed != null && meanwhile) { // else each of many would wait for the broker in turn
        throw notListed;
      }
      long now = System.currentTimeMillis();
      boolean fresh = !anew && now - listedAtMs <= LIST_LASTS_MS && now >= listedAtMs;
      if (listed == null || !meanwhile && !fresh) {
        listFromBroker();
      }
      return listed;
    } finally {
      listing.unlock();
    }
  }

  private void listFromBroker() throws InterruptedException {
    listed = null;
    notListed = null;
    listedFromNs = System.nanoTime();
    listedAtMs = System.currentTimeMillis();
    try {
      listed = ask(Activations::list);
    } catch (Problem problem) {
      notListed = problem;
      throw problem;
    }
  }

  private Activation done(Question<Activation> change) throws InterruptedException {
    Activation changed = ask(change);
    listing.lock();
    listed = null;
    listing.unlock();
    return changed;
  }

  @FunctionalInterface
  private interface Question<T> {
    T of(Activations activations) throws ActivationException, InterruptedException;
  }

  private <T> T ask(Question<T> question) throws InterruptedException {
    if (activations == null) {
      throw new Problem(404, "this console has no broker, so nothing can be switched: start it with --broker");
    }
    try {
      return question.of(activations);
    } catch (ActivationException e) {
      throw new Problem(e.isIllegal() ? 400 : 503, e.getMessage());
    }
  }
}
