package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Pipeline;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.plan.TwoStagePlan;
import io.lifeline.jobs.core.signing.Signatures;

/** Processes the messages that a task reads. Used by the task's thread. */
interface Intake {

  void accept(BatchStream.Received message, Output output);

  /**
   * Records that retention removed unread messages, from one stream sequence up to another.
   *
   * @param areOurs whether all of them were this task's messages
   */
  void expired(long from, long to, boolean areOurs);

  /** Advances time; called before every checkpoint, and about every second. */
  void punctuate(Output output);

  /** Returns whether results wait for nothing but {@link #punctuate} and the checkpoint. */
  boolean isDue();

  /** Writes pending changes to the state. */
  void save();

  /** Ends the session; metrics that only a session updates are removed. */
  void close();

  /** Returns an intake that feeds batches to a pipeline. */
  static Intake of(Pipeline pipeline, Signatures signatures) {
    return new Intake() {
      @Override
      public void accept(BatchStream.Received message, Output output) {
        Rejection refusal = signatures.refusal(message.position(), message.data(), message.signature());
        if (refusal == null) {
          pipeline.accept(message.data(), message.position(), output);
        } else {
          pipeline.refuse(refusal, output);
        }
      }

      @Override
      public void expired(long from, long to, boolean areOurs) {
        pipeline.expired(0, from, to, areOurs);
      }

      @Override
      public void punctuate(Output output) {
        pipeline.punctuate(output);
      }

      @Override
      public boolean isDue() {
        return pipeline.isDue();
      }

      @Override
      public void save() {
        pipeline.save();
      }

      @Override
      public void close() {
        pipeline.close();
      }
    };
  }

  /** Returns an intake that merges the output of the first stages. The merger itself counts expired messages. */
  static Intake of(TwoStagePlan.Merger merger) {
    return new Intake() {
      @Override
      public void accept(BatchStream.Received message, Output output) {
        merger.accept(message.data());
      }

      @Override
      public void expired(long from, long to, boolean areOurs) {}

      @Override
      public void punctuate(Output output) {
        merger.punctuate(output);
      }

      @Override
      public boolean isDue() {
        return merger.isDue();
      }

      @Override
      public void save() {
        merger.save();
      }

      @Override
      public void close() {
        merger.close();
      }
    };
  }
}
