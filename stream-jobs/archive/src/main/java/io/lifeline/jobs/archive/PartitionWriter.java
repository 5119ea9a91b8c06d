package io.lifeline.jobs.archive;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.Deduplicator;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.RetentionClock;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.zip.CRC32;

/**
 * One partition on its way into an archive: checks messages, absorbs repeats, and knows which offsets what is held
 * covers. An implementation collects events and stores them. Used by one thread.
 */
public abstract class PartitionWriter {
  /** So many are compared with the archive at once, and remembered until then. */
  private static final int MAX_LATE = 10_000;

  private final int partition;
  private final RollOptions options;
  private final ArchiveFeed feed;
  private final MemoryState checksums = new MemoryState();
  private final Deduplicator deduplicator;
  private final RetentionClock clock = new RetentionClock(new MemoryState(), System::nanoTime);
  private final Deque<LateBatch> late = new ArrayDeque<>();
  private final Deque<ArchiveFeed.Stored> underWay = new ArrayDeque<>();
  private final BatchReader reader = new BatchReader();
  private final ColumnarBatch columns = new ColumnarBatch();
  private String source;
  private long found;
  private Long foundMessage;
  private byte[] lastMessage;
  private long stored;
  private long from;
  private long to;
  private long batches;
  private long events;
  private long duplicates;
  private long rejected;
  private long firstAppendNs;
  private long newestArchivedMs;

  protected PartitionWriter(int partition, RollOptions options, ArchiveFeed feed) {
    this.partition = partition;
    this.options = options;
    this.feed = feed;
    this.deduplicator = new Deduplicator(checksums, options.remembered().toMillis());
  }

  /** Tells which sequences of a route the archive holds already. */
  protected final void remember(RouteEntry route) {
    newestArchivedMs = Math.max(newestArchivedMs, route.lastBrokerTimeMs());
    route.forEachRun((first, last) -> deduplicator.seen(route.key(), first, last, route.lastBrokerTimeMs()));
  }

  /**
   * Tells where the archive ends.
   *
   * @param in what that offset counts in, see {@link ArchiveFeed#source}; null if the archive does not know
   * @param message the checksum of the message before it; null if the archive does not know
   */
  protected final void startAt(long offset, String in, Long message) {
    source = in;
    found = offset;
    foundMessage = message;
    stored = offset;
    from = offset;
    to = offset;
  }

  /** What the offsets count in; null if nobody could tell. */
  protected final String source() {
    return source;
  }

  /** The checksum of the message before {@link #to}; null if there was none, or it is not known. */
  protected final Long lastMessage() {
    return lastMessage == null ? to == found ? foundMessage : null : (Long) checksum(lastMessage);
  }

  /** Not CRC-32C: a batch ends in its own, and so that of any whole batch is the same. */
  private static long checksum(byte[] message) {
    CRC32 crc = new CRC32();
    crc.update(message);
    return crc.getValue();
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

  /** Says of each of these batches, by {@link LateBatch#found}, what the archive holds in its place. */
  protected abstract void lookUp(List<LateBatch> batches) throws IOException;

  /** Names the archive to people. */
  protected abstract String place();

  /** Lets the partition go without storing what is held. */
  protected abstract void close() throws IOException;

  /** First offset that would be lost if the process died now. */
  final long stored() {
    return stored;
  }

  /** Makes sure that the partition's offsets still count in what the archive's position does. */
  final void checkSource() throws IOException {
    String now = feed.source(partition);
    if (now != null && source != null && !now.equals(source)) {
      throw new ArchiveException("the archive " + place() + " holds partition " + partition + " up to offset " + stored
          + " of " + source + ", and now there is another one of that name, " + now
          + ": it was made anew, so give it another archive");
    }
    source = now == null ? source : now;
  }

  /** From where on to read so that {@link #append} sees whether the messages are still the same ones. */
  final long comparableOffset() {
    return to == found && foundMessage != null ? to - 1 : to;
  }

  final boolean isStored() {
    return to == stored;
  }

  final boolean isDue(long nanoTime) {
    return to != stored && nanoTime - firstAppendNs >= options.interval().toNanos();
  }

  final void forgetSilentEmitters(long nanoTime) {
    if (clock.isSet()) {
      deduplicator.expire(clock.nowMs(nanoTime));
    }
  }

  /** Stores everything. */
  final void roll() throws IOException {
    finish();
    if (to != from) {
      makeReady();
      store();
      collectAnew();
      noteStored();
    }
  }

  /** Begins to store what is collected, once that which was begun earlier is stored. */
  final void rollAhead() throws IOException {
    finish();
    if (to != from) {
      makeReady();
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
      noteStored();
    }
  }

  private void makeReady() throws IOException {
    compareLate();
    feed.beforeStoring();
    checkSource();
  }

  private void collectAnew() {
    underWay.add(new ArchiveFeed.Stored(partition, batches, events, duplicates, rejected));
    checksums.clear();
    from = to;
    batches = 0;
    events = 0;
    duplicates = 0;
    rejected = 0;
  }

  private void noteStored() {
    stored = from;
    while (!underWay.isEmpty()) {
      feed.stored(underWay.remove());
    }
  }

  final Appended append(Position position, byte[] message, Rejection refusal) throws IOException {
    if (position.offset() < to) {
      if (position.offset() == found - 1 && foundMessage != null && foundMessage != checksum(message)) {
        throw new ArchiveException("the archive " + place() + " holds partition " + partition + " up to offset " + found
            + ", and another message stands before that now: it was made anew, so give it another archive");
      }
      return Appended.ALREADY_ARCHIVED;
    }
    if (late.size() >= MAX_LATE) {
      finish();
      compareLate();
    }
    if (to == from) {
      firstAppendNs = System.nanoTime();
    }
    tellTime(position.brokerTimeMs());
    Appended result = refusal == null ? take(position, message) : reject(refusal);
    to = position.offset() + 1;
    lastMessage = message;
    return result;
  }

  /** It goes on where the archive ends: a broker's clock that was put forward meanwhile must not have all forgotten. */
  private void tellTime(long brokerTimeMs) {
    if (!clock.isSet() && newestArchivedMs != 0) {
      clock.startAt(Math.min(newestArchivedMs, brokerTimeMs));
    }
    clock.observe(brokerTimeMs);
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
      return reject(identified(position, "too_many_types", refusal, route, reader.sequence()));
    }
    return switch (deduplicator.check(route, reader.sequence(), reader.crc(), clock.nowMs())) {
      case NEW -> {
        collect(reader, columns.fill(reader), route, position);
        batches++;
        events += reader.eventCount();
        yield Appended.ACCEPTED;
      }
      case DUPLICATE -> {
        duplicates++;
        yield Appended.DUPLICATE;
      }
      case UNKNOWN -> {
        late.add(new LateBatch(position, route, reader.sequence(), reader.crc()));
        duplicates++;
        yield Appended.DUPLICATE;
      }
      case CONFLICT -> reject(conflict(position, route, reader.sequence()));
    };
  }

  /**
   * Asks the archive what it holds in the place of batches that came late: all of them at once, before each
   * storing.
   */
  private void compareLate() throws IOException {
    if (late.isEmpty()) {
      return;
    }
    lookUp(List.copyOf(late));
    while (!late.isEmpty()) { // one by one: after a failure, those before are not reported again
      LateBatch batch = late.element();
      if (batch.contradicts()) {
        reject(conflict(batch.position(), batch.route(), batch.sequence()));
        duplicates--;
      } else if (!batch.isFound()) {
        reject(identified(batch.position(), "unverifiable", "a batch with its sequence was archived and is there no"
            + " more, so nobody can say whether it was the same", batch.route(), batch.sequence()));
        duplicates--;
      }
      late.remove();
    }
  }

  private static Rejection conflict(Position position, RouteKey route, long sequence) {
    return identified(position, "conflict", "another batch came with the same sequence", route, sequence);
  }

  private static Rejection identified(Position position, String code, String message, RouteKey route, long sequence) {
    return new Rejection(position, code, 32, message, route + "-" + Long.toUnsignedString(sequence));
  }

  private Appended reject(Rejection rejection) {
    feed.reject(rejection); // first: if the listener fails, it gets the same message again
    rejected++;
    return Appended.REJECTED;
  }
}
