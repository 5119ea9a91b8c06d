package io.lifeline.cases;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One file of the corpus in schemas/vectors: batches that are made to harm their readers, in order, and what is due
 * from a reader, as hostile.json has it.
 *
 * @param due how many of the batches must have each outcome: {@code accepted}, {@code duplicate}, or the code of a
 *     rejection
 */
public record Hostile(String name, List<byte[]> batches, Map<String, Integer> due) {

  /** No reader may need more, whatever it is given. */
  public static final long MAX_MEMORY = 1L << 30;

  private static final int TOTAL_LENGTH_AT = 56;

  /** What is measured by {@link #peakMemory}. */
  @FunctionalInterface
  public interface Action {
    void run() throws Exception;
  }

  /** Those that the repository keeps: one legal batch each. */
  public static List<Hostile> kept() throws IOException {
    List<Hostile> kept = new ArrayList<>();
    try (Stream<Path> files = Files.list(vectors().resolve("hostile"))) {
      for (Path file : files.filter(each -> each.toString().endsWith(".llb")).sorted().toList()) {
        kept.add(new Hostile(name(file), List.of(Files.readAllBytes(file)), Map.of("accepted", 1)));
      }
    }
    return kept;
  }

  /**
   * Those that are too large to be kept.
   *
   * @param readers who asks: of these, the first of which the corpus says what is due. {@code remembering} are readers
   *     that know what came before; all others judge each batch alone
   */
  public static List<Hostile> made(String... readers) throws IOException, InterruptedException {
    Path folder = make();
    Map<String, Map<String, Map<String, Integer>>> due = new TreeMap<>();
    for (String line : Files.readAllLines(folder.resolve("due.txt"))) {
      String[] words = line.split(" ");
      due.computeIfAbsent(words[0], key -> new HashMap<>()).computeIfAbsent(words[1], key -> new TreeMap<>())
          .put(words[2], Integer.valueOf(words[3]));
    }
    List<Hostile> made = new ArrayList<>();
    for (var each : due.entrySet()) {
      String reader = Stream.of(readers).filter(each.getValue()::containsKey).findFirst().orElse("any");
      byte[] bytes = Files.readAllBytes(folder.resolve(each.getKey() + ".llb"));
      made.add(new Hostile(each.getKey(), split(bytes), each.getValue().get(reader)));
    }
    return made;
  }

  /** The most memory that this process gains while the action runs, in bytes; without what earlier tests left. */
  public static long peakMemory(Action action) throws Exception {
    System.gc(); // for memory that the action can use is not gained
    long before = memory("VmRSS");
    Files.writeString(Path.of("/proc/self/clear_refs"), "5"); // or the peak would be that of tests before this one
    action.run();
    return memory("VmHWM") - before;
  }

  private static long memory(String what) throws IOException {
    Matcher line = Pattern.compile(what + ":\\s+(\\d+) kB").matcher(Files.readString(Path.of("/proc/self/status")));
    if (!line.find()) {
      throw new IllegalStateException("/proc/self/status has no " + what);
    }
    return Long.parseLong(line.group(1)) << 10;
  }

  private static List<byte[]> split(byte[] bytes) {
    List<byte[]> batches = new ArrayList<>();
    ByteBuffer lengths = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at < bytes.length; ) {
      int end = at + lengths.getInt(at + TOTAL_LENGTH_AT);
      batches.add(Arrays.copyOfRange(bytes, at, end));
      at = end;
    }
    return batches;
  }

  private static Path make() throws IOException, InterruptedException {
    Process maker = new ProcessBuilder("python3", vectors().resolve("make_vectors.py").toString(), "--large")
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String folder = new String(maker.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    if (maker.waitFor() != 0) {
      throw new IOException("make_vectors.py --large failed");
    }
    return Path.of(folder);
  }

  private static Path vectors() {
    Path root = Path.of("").toAbsolutePath();
    while (!Files.exists(root.resolve("schemas/vectors"))) {
      root = root.getParent();
    }
    return root.resolve("schemas/vectors");
  }

  private static String name(Path file) {
    return file.getFileName().toString().replace(".llb", "");
  }

  @Override
  public String toString() {
    return name;
  }
}
