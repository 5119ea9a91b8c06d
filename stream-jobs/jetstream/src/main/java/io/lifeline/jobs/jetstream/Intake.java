package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Pipeline;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.Signatures;
import io.lifeline.jobs.core.plan.InTwoHalves;

/** What a task does with the messages that it reads. Used by the task's thread. */
interface Intake {

  void accept(BatchStream.Received message, Output output);

  /**
   * Takes notice that retention removed messages from one stream sequence up to another unread.
   *
   * @param areOurs whether these were all this task's
   */
  void expired(long from, long to, boolean areOurs);

  /** Lets time pass; called before every checkpoint, and every second or so. */
  void punctuate(Output output);

  /** Writes what changed into the state. */
  void save();

  /** The session is over: what moves only while there is one is shown no more. */
  void close();

  /** Of batches, for jobs. */
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
      public void save() {
        pipeline.save();
      }

      @Override
      public void close() {
        pipeline.close();
      }
    };
  }

  /** Of what first halves in groups send. The merger itself counts messages that have expired. */
  static Intake of(InTwoHalves.Merger merger) {
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
