package io.lifeline.jobs.archive.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputTest {
  @TempDir Path directory;

  private final ByteArrayOutputStream standard = new ByteArrayOutputStream();

  private Output output(Path file, Unfinished unfinished) throws IOException {
    return Output.to(file, standard, directory, unfinished);
  }

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private static void write(OutputStream stream, String text) throws IOException {
    stream.write(text.getBytes());
    stream.close();
  }

  @Test
  void filesGetTheirNamesTogetherWhenAllAreComplete() throws Exception {
    Files.writeString(directory.resolve("a.prv"), "old");
    try (Unfinished unfinished = new Unfinished();
        Output output = output(directory.resolve("a.prv"), unfinished)) {
      write(output.beside(".pcf"), "names");
      write(output.stream(), "new");
      assertThat(files()).hasSize(3).contains("a.prv");
      assertThat(directory.resolve("a.prv")).hasContent("old");
      output.commit();
    }
    assertThat(files()).containsExactly("a.pcf", "a.prv");
    assertThat(directory.resolve("a.prv")).hasContent("new");
  }

  @Test
  void anExportThatFailsLeavesWhatWasThereAndNothingElse() throws Exception {
    Files.writeString(directory.resolve("a"), "old");
    try (Unfinished unfinished = new Unfinished(); Output output = output(directory.resolve("a"), unfinished)) {
      output.stream().write(1);
    }
    assertThat(files()).containsExactly("a");
    assertThat(directory.resolve("a")).hasContent("old");
  }

  @Test
  void nothingIsCreatedOrRenamedOnceTheProcessIsEnding() throws Exception {
    Unfinished unfinished = new Unfinished();
    Output output = output(directory.resolve("a"), unfinished);
    write(output.stream(), "new");
    unfinished.close();
    assertThatThrownBy(output::commit).isInstanceOf(IOException.class).hasMessageContaining("interrupted");
    assertThatThrownBy(() -> output.beside(".pcf")).hasMessage("interrupted");
    assertThat(files()).isEmpty();
  }

  @Test
  void aLinkStaysALinkAndAPipeAPipe() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "old");
    Path link = Files.createSymbolicLink(directory.resolve("link"), file);
    try (Unfinished unfinished = new Unfinished(); Output output = output(link, unfinished)) {
      write(output.stream(), "new");
      output.commit();
    }
    assertThat(link).isSymbolicLink().hasContent("new");
    try (Unfinished unfinished = new Unfinished(); Output output = output(Path.of("/dev/null"), unfinished)) {
      write(output.stream(), "new");
      output.commit();
    }
    assertThat(Files.isRegularFile(Path.of("/dev/null"))).isFalse();
  }

  @Test
  void standardOutputIsWrittenAndLeftOpen() throws Exception {
    for (Path name : new Path[] {null, Path.of("-")}) {
      standard.reset();
      try (Unfinished unfinished = new Unfinished(); Output output = output(name, unfinished)) {
        write(output.stream(), "lines");
        Files.writeString(output.file(), " and a file");
        output.commit();
      }
      assertThat(standard).hasToString("lines and a file");
    }
    assertThat(files()).isEmpty();
  }

  @Test
  void aPlaceThatCannotBeWrittenIsNamedWithTheRemedy() throws Exception {
    try (Unfinished unfinished = new Unfinished()) {
      assertThatThrownBy(() -> output(directory, unfinished)).hasMessage(
          "cannot write " + directory + ": it is a directory: give --output the name of a file");
      Path nowhere = directory.resolve("nowhere/a");
      assertThatThrownBy(() -> output(nowhere, unfinished).stream()).hasMessage(
          "cannot write " + nowhere + ": its directory does not exist: give --output another place");
    }
  }
}
