package io.lifeline.connect.plugins;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ConfigurationPageTest {

  private static final Path PAGE = Path.of("..", "CONFIGURATION.md");

  /** With {@code -Dlifeline.docs=write}, which is what {@code scripts/connect docs} gives, the page is made anew. */
  @Test
  void theCommittedPageIsWhatThePluginsDeclare() throws IOException {
    if (System.getProperty("lifeline.docs", "").equals("write")) {
      Files.writeString(PAGE, ConfigurationPage.text());
    }
    assertThat(Files.readString(PAGE)).as("scripts/connect docs writes it anew").isEqualTo(ConfigurationPage.text());
  }
}
