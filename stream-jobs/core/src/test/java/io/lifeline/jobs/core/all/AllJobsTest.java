package io.lifeline.jobs.core.all;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.plan.JobFactory;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AllJobsTest {

  @Test
  void theSettingJobsAllowsThemAndTheArchive() {
    Stream<String> made = AllJobs.of(Optional::empty).stream().map(JobFactory::name);
    String allowed = Keys.JOBS.type().allowed().replaceFirst("^a comma-separated list of ", "");
    assertThat(allowed.split(", ")).containsExactlyInAnyOrder(Stream.concat(made, Stream.of("archive")).toArray(String[]::new));
  }
}
