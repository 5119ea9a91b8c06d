package io.lifeline.jobs.archive;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.Deduplicator;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * One partition on its way into an archive: checks messages, absorbs repeats, and knows which offsets what is held
 * covers. An implementation collects events and stores them. Used by one thread.
 */
public abstract class PartitionWriter {
  private final RollOptions options;
  private final Consumer<Rejection> rejections;
  private final Deduplicator deduplicator;
  private final BatchReader reader = new BatchReader();
  private final ColumnarBatch columns = new ColumnarBatch();
  private long stored;
  private long from;
  private long to;
  private long duplicates;
  private long rejected;
  private long firstAppendMs;

  protected PartitionWriter(RollOptions options, Consumer<Rejection> rejections) {
    this.options = options;
    this.rejections = rejections;
    this.deduplicator = new Deduplicator(new ForgetfulState(), options.remembered().toMillis());
  }

  /** Tells which sequences of a route the archive holds already. */
  protected final void remember(RouteEntry route) {
    route.forEachRun((first, last) -> deduplicator.seen(route.key(), first, last, route.lastBrokerTimeMs()));
  }

  /** Tells where the archive ends. */
  protected final void startAt(long offset) {
    stored = offset;
    from = offset;
    to = offset;
  }

  /** First offset that what is collected covers. */
  protected final long from() {
    return from;
  }

  /** First offset that it does not cover. */
  protected final long to() {
    return to;
  }

  /** Repeats absorbed in what is collected. */
  protected final long duplicates() {
    return duplicates;
  }

  /** Messages between {@link #from} and {@link #to} that were refused. */
  protected final long rejected() {
    return rejected;
  }

  /**
   * Makes ready for the types of a batch, before anything else is done with it. When this fails the message is not
   * taken.
   *
   * @return why the archive cannot take the batch, ever; null if it can
   */
  protected String prepare(BatchReader batch) throws IOException {
    return null;
  }

  /** Collects the events of a new batch. The arguments are valid during this call. */
  protected abstract void collect(BatchReader batch, ColumnarBatch events, RouteKey route, Position position);

  /** Stores what is collected, with the position {@link #to}, all or nothing; then nothing is collected. */
  protected abstract void store() throws IOException;

  /**
   * As {@link #store}, but may return before it is done: then {@link #finishStoring} tells the outcome. By default it
   * is done at once. When this fails everything is still collected.
   */
  protected void startStoring() throws IOException {
    store();
  }

  /** Waits for what was started. After a failure that is still held, and the next call tries again. */
  protected void finishStoring() throws IOException {
    // It was done at once.
  }

  /** Memory held for events that are collected, in bytes. */
  protected abstract long collectedBytes();

  /** Memory held for events that are being stored meanwhile, in bytes. */
  protected long storingBytes() {
    return 0;
  }

  /** Lets the partition go without storing what is held. */
  protected abstract void close() throws IOException;

  /** First offset that would be lost if the process died now. */
  final long stored() {
    return stored;
  }

  final boolean isDue(long nowMs) {
    return to != stored && nowMs - firstAppendMs >= options.interval().toMillis();
  }

  final void forgetSilentEmitters(long nowMs) {
    deduplicator.expire(nowMs);
  }

  /** Stores everything. */
  final void roll() throws IOException {
    finish();
    if (to != from) {
      store();
      collectAnew();
      stored = from;
    }
  }

  /** Begins to store what is collected, once that which was begun earlier is stored. */
  final void rollAhead() throws IOException {
    finish();
    if (to != from) {
      startStoring();
      collectAnew();
    }
  }

  /** Waits until what was begun is stored; if nothing was, stores everything. */
  final void makeRoom() throws IOException {
    if (stored != from) {
      finish();
    } else {
      roll();
    }
  }

  private void finish() throws IOException {
    if (stored != from) {
      finishStoring();
      stored = from;
    }
  }

  private void collectAnew() {
    from = to;
    duplicates = 0;
    rejected = 0;
  }

  final Appended append(Position position, byte[] message) throws IOException {
    if (position.offset() < to) {
      return Appended.ALREADY_ARCHIVED;
    }
    if (to == from) {
      firstAppendMs = System.currentTimeMillis();
    }
    Appended result = take(position, message);
    to = position.offset() + 1;
    return result;
  }

  private Appended take(Position position, byte[] message) throws IOException {
    try {
      reader.read(message, 0, message.length);
    } catch (RejectedBatchException e) {
      return reject(Rejection.of(position, e));
    }
    RouteKey route = RouteKey.of(reader);
    String refusal = prepare(reader);
    if (refusal != null) {
      return reject(identified(position, "too_many_types", refusal, route));
    }
    return switch (deduplicator.check(route, reader.sequence(), reader.crc(), position.brokerTimeMs())) {
      case NEW -> {
        collect(reader, columns.fill(reader), route, position);
        yield Appended.ACCEPTED;
      }
      case DUPLICATE -> {
        duplicates++;
        yield Appended.DUPLICATE;
      }
      case CONFLICT -> reject(identified(position, "conflict", "another batch came with the same sequence", route));
      case TOO_MANY_GAPS ->
          reject(identified(position, "too_many_gaps", "more sequences of its route are missing than are kept", route));
    };
  }

  private Rejection identified(Position position, String code, String message, RouteKey route) {
    return new Rejection(position, code, 32, message, route + "-" + Long.toUnsignedString(reader.sequence()));
  }

  private Appended reject(Rejection rejection) {
    rejections.accept(rejection); // first: a listener that fails is told of the same message again
    rejected++;
    return Appended.REJECTED;
  }
}
