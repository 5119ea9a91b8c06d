package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.cases.Cases;
import io.lifeline.cases.Inputs;
import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.Incarnation;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.Deduplicator;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RetiredRoutes;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.derive.DerivedStream;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests what a task remembers across kills and takeovers at any moment, with a real bucket. */
@Tag("system")
class InterruptedStateTest extends OnBucket {

  private static final long RETENTION_MS = 86_400_000;
  private static final long ENDED_MS = 61_000;
  private static final long IDLE_MS = RetiredRoutes.IDLE_MS + ENDED_MS;

  /** The answers are those of a program that keeps everything in memory. So are those of an owner that comes late. */
  @Test
  void noInterruptionChangesAnAnswer() {
    int[] cases = new int[1];
    Cases.each(40, any -> {
      History history = new History("case" + cases[0]++);
      for (int left = any.upTo(100); left > 0; left--) {
        switch (any.between(0, 9)) {
          case 0, 1, 2, 3 -> history.arrives(arrival(any, history.nowMs));
          case 4, 5 -> history.pass(any.of(ENDED_MS, ENDED_MS, IDLE_MS));
          case 6, 7 -> history.owner.checkpoint(any.flag() ? Integer.MAX_VALUE : any.between(0, 3));
          case 8 -> history.takeOver();
          default -> history.actLate(any.flag());
        }
      }
      history.everythingIsKnown();
    });
  }

  private static Arrival arrival(Inputs any, long nowMs) {
    return new Arrival(any.between(0, 2), any.between(1, 8), any.between(0, 2) == 0, any.between(0, 1), nowMs);
  }

  /** @param selected the number of its events that the derived stream takes */
  private record Arrival(int route, long sequence, boolean isLast, int selected, long atMs) {

    BatchReader batch() throws RejectedBatchException {
      byte[] bytes = writer(1).toByteArray();
      return new BatchReader().read(bytes, 0, bytes.length);
    }

    BatchWriter writer(int events) {
      BatchWriter writer =
          new BatchWriter()
              .incarnation(new Incarnation(1, route))
              .sequence(sequence)
              .host("host-a")
              .program("test")
              .finalBatch(isLast)
              .ticks(Emitter.START_NS, 1_000_000_000, true)
              .thread(7)
              .counter(Counter.EMITTED, sequence);
      for (int i = 0; i < events; i++) {
        writer.event(Emitter.READ, Emitter.START_NS, sequence, sequence);
      }
      return writer;
    }
  }

  private static final class Jobs {
    private final Deduplicator deduplicator;
    private final DerivedStream stream;

    Jobs(KeyedState state) {
      deduplicator = new Deduplicator(state, RETENTION_MS);
      stream =
          new DerivedStream("large", "recipe", DerivedStream.Rest.LEFT_OUT, state, RETENTION_MS, new Metrics());
    }

    /** Returns the verdict, and what is derived with its ids. */
    List<String> accept(Arrival arrival) throws RejectedBatchException {
      BatchReader batch = arrival.batch();
      Deduplicator.Result result =
          deduplicator.check(RouteKey.of(batch), batch.sequence(), batch.crc(), arrival.atMs());
      List<String> answer = new ArrayList<>(List.of(result.toString()));
      if (result == Deduplicator.Result.NEW) {
        stream.derive(
            batch,
            new Position(0, 1, arrival.atMs()),
            arrival.selected(),
            (from, to) -> arrival.writer(to - from),
            (to, key, id, value) -> answer.add(id + " " + HexFormat.of().formatHex(value)));
      }
      return answer;
    }

    void pass(long nowMs) {
      deduplicator.expire(nowMs);
      stream.forget(nowMs);
    }

    void save() {
      deduplicator.save();
      stream.save();
    }
  }

  /** A stream of batches, and the owners of the task that reads it. */
  private static final class History {
    private final String task;
    private final List<Arrival> arrivals = new ArrayList<>();
    private final List<List<String>> answers = new ArrayList<>();
    private final Jobs uninterrupted = new Jobs(new MemoryState());
    private long nowMs = 1000;
    private Owner owner;
    private Owner former;

    History(String task) throws Exception {
      this.task = task;
      this.owner = new Owner(1);
    }

    void arrives(Arrival arrival) throws Exception {
      arrivals.add(arrival);
      answers.add(uninterrupted.accept(arrival));
      owner.catchUp();
    }

    void pass(long ms) {
      if (nowMs + ms < RETENTION_MS) {
        nowMs += ms;
        owner.jobs.pass(nowMs);
      }
    }

    void takeOver() throws Exception {
      former = owner;
      owner = new Owner(former.epoch + 1);
      owner.catchUp();
    }

    /** The former owner goes on where it was; it may notice early that it is not the owner any more, or at its end. */
    void actLate(boolean isSpilling) throws Exception {
      if (former == null) {
        return;
      }
      if (isSpilling) {
        former.spilled.spill(() -> {});
        return;
      }
      try {
        former.catchUp();
      } catch (IllegalStateException e) {
        assertThat(e).hasMessage("another instance has taken over " + task);
      }
      assertThatThrownBy(() -> former.checkpoint(0)).isInstanceOf(Lease.LostException.class);
      former = null;
    }

    void everythingIsKnown() throws Exception {
      takeOver();
      for (int i = 0; i < arrivals.size(); i++) {
        if (answers.get(i).contains("NEW")) {
          assertThat(owner.jobs.accept(arrivals.get(i))).containsExactly("DUPLICATE");
        }
      }
    }

    private final class Owner {
      private final long epoch;
      private final CheckpointStore store;
      private final MemoryState state;
      private final SpilledState spilled;
      private final Jobs jobs;
      private int next;

      Owner(long epoch) throws Exception {
        this.epoch = epoch;
        this.store = new CheckpointStore(bucket, connection.jetStreamManagement(), task, 1 << 20);
        Checkpoint start = store.takeOver(epoch);
        this.state = start.state();
        this.spilled = new SpilledState(state, connection, bucket, task, epoch);
        this.jobs = new Jobs(spilled);
        this.next = (int) start.nextSequence() - 1;
      }

      void catchUp() throws Exception {
        for (; next < arrivals.size(); next++) {
          assertThat(jobs.accept(arrivals.get(next))).as("of arrival %d", next).isEqualTo(answers.get(next));
        }
      }

      /** Writes a checkpoint, and moves values out of it; after some of them it is replaced. */
      void checkpoint(int moved) throws Exception {
        jobs.save();
        store.write(new Checkpoint(Instant.EPOCH, next + 1, 0, state, List.of()));
        int[] left = {moved};
        try {
          spilled.spill(() -> {
            if (left[0]-- == 0) {
              throw new IOException("killed");
            }
          });
        } catch (IOException e) {
          takeOver();
        }
      }
    }
  }
}
