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
    from = offset;
    to = offset;
  }

  /** First offset that what is held covers: the archive's end. */
  protected final long from() {
    return from;
  }

  /** First offset that it does not cover. */
  protected final long to() {
    return to;
  }

  /** Repeats absorbed in what is held. */
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

  /** Stores what is held, with the position {@link #to}, all or nothing; then holds nothing. */
  protected abstract void store() throws IOException;

  /** Memory held for events, in bytes. */
  protected abstract long heldBytes();

  /** Lets the partition go without storing what is held. */
  protected abstract void close() throws IOException;

  final boolean isEmpty() {
    return to == from;
  }

  final boolean isDue(long nowMs) {
    return !isEmpty() && nowMs - firstAppendMs >= options.interval().toMillis();
  }

  final void forgetSilentEmitters(long nowMs) {
    deduplicator.expire(nowMs);
  }

  final void roll() throws IOException {
    if (isEmpty()) {
      return;
    }
    store();
    from = to;
    duplicates = 0;
    rejected = 0;
  }

  final Appended append(Position position, byte[] message) throws IOException {
    if (position.offset() < to) {
      return Appended.ALREADY_ARCHIVED;
    }
    if (isEmpty()) {
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
