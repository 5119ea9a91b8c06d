package io.lifeline.jobs.core;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A stored state: a line per value, with its key and its bytes. */
final class StateFile {

  private static final String MESSAGE = "message:";

  private StateFile() {}

  static String text(MemoryState state, Map<String, byte[]> messages) {
    Map<String, byte[]> lines = new TreeMap<>();
    state.scan("", lines::put);
    messages.forEach((kind, message) -> lines.put(MESSAGE + kind, message));
    return lines.entrySet().stream()
        .map(line -> URLEncoder.encode(line.getKey(), UTF_8) + " " + hex(line.getValue()) + "\n")
        .collect(Collectors.joining());
  }

  static MemoryState state(Path file) throws IOException {
    MemoryState state = new MemoryState();
    lines(file).forEach((key, value) -> {
      if (!key.startsWith(MESSAGE)) {
        state.put(key, value);
      }
    });
    return state;
  }

  static Map<String, byte[]> messages(Path file) throws IOException {
    Map<String, byte[]> messages = new TreeMap<>();
    lines(file).forEach((key, value) -> {
      if (key.startsWith(MESSAGE)) {
        messages.put(key.substring(MESSAGE.length()), value);
      }
    });
    return messages;
  }

  static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static Map<String, byte[]> lines(Path file) throws IOException {
    Map<String, byte[]> lines = new TreeMap<>();
    for (String line : Files.readAllLines(file)) {
      int space = line.indexOf(' ');
      lines.put(URLDecoder.decode(line.substring(0, space), UTF_8), HexFormat.of().parseHex(line.substring(space + 1)));
    }
    return lines;
  }
}
