package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FieldNamesTest {

  @Test
  void noTwoNamesBecomeOne() {
    List<String> names = List.of("host", "host_", "host__", "hos", "_host", "_", "", "event_id", "event_id_", "event_");
    assertThat(names).extracting(name -> FieldNames.beside(Set.of("host", "event_id"), name))
        .containsExactly("host_", "host__", "host___", "hos", "_host", "_", "", "event_id_", "event_id__", "event_");
  }
}
