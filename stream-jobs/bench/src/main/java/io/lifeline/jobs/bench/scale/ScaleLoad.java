package io.lifeline.jobs.bench.scale;

import io.lifeline.jobs.bench.BatchPublisher;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Publishes batches of many emitters to a broker. */
@Command(name = "scale-load", mixinStandardHelpOptions = true, description = "Publishes batches of many emitters.")
public final class ScaleLoad implements Runnable {

  @Option(names = "--url", required = true, description = "the broker, with Lifeline's streams or topics")
  private String url;

  @Option(names = "--first", defaultValue = "0", description = "number of the first emitter (default ${DEFAULT-VALUE})")
  private int first;

  @Option(names = "--emitters", required = true, description = "how many")
  private int emitters;

  @Option(names = "--batches", required = true, description = "of each emitter, in turns")
  private int batches;

  @Option(names = "--events", defaultValue = "20", description = "in each batch (default ${DEFAULT-VALUE})")
  private int events;

  @Option(names = "--types", defaultValue = "4",
      description = "event types, which take turns (default ${DEFAULT-VALUE})")
  private int types;

  @Option(names = "--end", description = "each emitter's last batch says that its process has ended")
  private boolean end;

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new ScaleLoad()).execute(arguments));
  }

  @Override
  public void run() {
    EmitterBatches all = new EmitterBatches(types, events);
    try (BatchPublisher publisher = BatchPublisher.to(url)) {
      for (int round = 0; round < batches; round++) {
        for (int emitter = first; emitter < first + emitters; emitter++) {
          long nowNs = System.currentTimeMillis() * 1_000_000;
          publisher.publish(EmitterBatches.incarnation(emitter),
              all.batch(emitter, round, nowNs, end && round == batches - 1));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      throw new IllegalStateException("cannot publish: " + e.getMessage(), e);
    }
  }
}
