package io.lifeline.jobs.core.ledger;

import io.lifeline.codec.Counter;
import io.lifeline.jobs.core.JsonWriter;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.Timestamps;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** Formats a balance for publication. */
final class BalanceJson {

  private static final String DROPPED_PREFIX = "dropped_";
  private static final Set<Counter> NOT_EMITTED =
      EnumSet.of(Counter.SAMPLED_OUT, Counter.BELOW_THRESHOLD, Counter.FOLDED);

  private BalanceJson() {}

  static byte[] of(RouteKey key, Account account, Balance balance, long revision) {
    JsonWriter json =
        new JsonWriter()
            .beginObject()
            .field("incarnation", key.incarnation().toString())
            .field("route", key.route())
            .field("route_name", account.routeName())
            .field("host", account.host())
            .field("program", account.program())
            .field("pid", account.pid())
            .field("revision", revision)
            .field("state", balance.state().name().toLowerCase(Locale.ROOT))
            .field("first_seen", Timestamps.iso(account.firstMs() * 1_000_000))
            .field("last_seen", Timestamps.iso(account.lastMs() * 1_000_000))
            .field("emitted", balance.emitted())
            .field("received", balance.received())
            .name("archived");
    if (balance.archived().isPresent()) {
      json.value(balance.archived().getAsLong());
    } else {
      json.value((String) null);
    }
    json.field("in_flight", balance.inFlight())
        .field("dropped", balance.dropped())
        .field("expired", balance.expired())
        .field("not_archived", balance.notArchived())
        .field("missing", balance.missing())
        .field("duplicated", balance.duplicated())
        .name("dropped_by_reason")
        .beginObject();
    for (Counter counter : Counter.values()) {
      if (counter.label().startsWith(DROPPED_PREFIX)) {
        json.field(counter.label().substring(DROPPED_PREFIX.length()), account.counter(counter));
      }
    }
    json.endObject();
    NOT_EMITTED.forEach(counter -> json.field(counter.label(), account.counter(counter)));
    if (!account.derivedFrom().isEmpty()) {
      json.field("derived_from", account.derivedFrom()).field("events_in", account.eventsIn());
    }
    return json.field("spooled", account.counter(Counter.SPOOLED))
        .field("batches", account.batches())
        .field("last_sequence", account.lastSequence())
        .field("missing_batches", account.lastSequence() - account.batches())
        .field("repeated_batches", account.repeats())
        .endObject()
        .toBytes();
  }
}
