package io.lifeline.cases;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Checks a property on damaged copies of seeds, as {@link Cases} does. Under JaCoCo's agent, with which scripts/fuzz
 * runs it, the search is guided by coverage: an input that reaches new code becomes a seed.
 */
public final class Guided {

  /** What holds for all inputs. */
  @FunctionalInterface
  public interface Property {
    void check(byte[] input) throws Exception;
  }

  private Guided() {}

  /** An input that fails is kept in target. */
  public static void each(int tries, List<byte[]> seeds, Property property) {
    List<byte[]> corpus = new ArrayList<>(seeds);
    Callable<byte[]> agent = agent();
    long[] covered = {0};
    Cases.each(tries, any -> {
      byte[] input = Damage.of(corpus.get(any.between(0, corpus.size() - 1)), any);
      try {
        property.check(input);
      } catch (Exception | Error e) {
        Path file = Path.of("target", "fuzz-" + Integer.toHexString(Arrays.hashCode(input))).toAbsolutePath();
        throw new AssertionError(Files.write(file, input) + ": " + e, e);
      }
      long now = agent == null ? 0 : covered(agent.call());
      if (now > covered[0]) {
        covered[0] = now;
        corpus.add(input);
      }
    });
  }

  /** Returns what asks JaCoCo's agent for its data; null without an agent. Only the agent has its classes. */
  private static Callable<byte[]> agent() {
    try {
      Class<?> type = Class.forName("org.jacoco.agent.rt.IAgent");
      Object agent = Class.forName("org.jacoco.agent.rt.RT").getMethod("getAgent").invoke(null);
      var data = type.getMethod("getExecutionData", boolean.class);
      return () -> (byte[]) data.invoke(agent, false);
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  /** Returns how much is covered: the bits behind the head of the data, which has a time. */
  private static long covered(byte[] data) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(data));
    in.skipNBytes(6);
    in.readUTF();
    in.skipNBytes(16);
    long bits = 0;
    for (byte each : in.readAllBytes()) {
      bits += Integer.bitCount(each & 0xff);
    }
    return bits;
  }
}
