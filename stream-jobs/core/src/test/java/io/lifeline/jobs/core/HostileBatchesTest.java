package io.lifeline.jobs.core;

import static io.lifeline.jobs.core.TestBatches.READ;
import static io.lifeline.jobs.core.TestBatches.at;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.emitter;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.cases.Hostile;
import io.lifeline.jobs.core.all.AllJobs;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.plan.ByEmitter;
import io.lifeline.jobs.core.plan.JobFactory;
import io.lifeline.jobs.core.plan.Plan;
import io.lifeline.jobs.core.plan.TwoStagePlan;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Runs all jobs on the corpus of hostile batches, each between valid ones. */
class HostileBatchesTest {

  private static final Pattern CODE = Pattern.compile("^\\{\"code\":\"(\\w+)\"");
  private static final String HONEST = emitter(1).toString();

  private final Metrics metrics = new Metrics();
  private final MemoryState state = new MemoryState();
  private final Pipeline pipeline = new Pipeline("hostile", state, 86_400_000, Placement.ANYWHERE, jobs(), metrics);
  private final Map<String, Integer> outcomes = new TreeMap<>();
  private long offset;
  private long honest;
  private long decodedOfHonest;
  private long bytes;

  private List<Job> jobs() {
    JobConfig config = JobConfig.load(null, Map.of(), Map.of("decode.types", "*", "filter.all", "true",
        "rate.of", "*:*", "broker.url", "nats://localhost"));
    List<Job> jobs = new ArrayList<>();
    for (JobFactory factory : AllJobs.of(Optional::empty)) {
      Plan plan = factory.plan(config, metrics);
      jobs.add(
          plan instanceof TwoStagePlan<?> twoStage ? twoStage.whole(state) : ((ByEmitter) plan).job().apply(state));
    }
    return jobs;
  }

  @Test
  void areTakenOrRefusedWithAReasonAndHarmNobodyElse() throws Exception {
    List<Hostile> corpus = new ArrayList<>(Hostile.kept());
    corpus.addAll(Hostile.made("remembering"));
    assertThat(Hostile.peakMemory(() -> corpus.forEach(this::take))).isLessThan(Hostile.MAX_MEMORY);
    assertThat(decodedOfHonest).isEqualTo(2 * corpus.size());
  }

  private void take(Hostile hostile) {
    outcomes.clear();
    bytes = 0;
    acceptHonest();
    Map<String, Long> before = counted();
    hostile.batches().forEach(each -> pipeline.accept(each, at(++offset, 1), this::send));
    counted().forEach((outcome, count) -> outcomes.put(outcome, (int) (count - before.get(outcome))));
    int rejected = outcomes.remove("rejected");
    outcomes.values().removeIf(count -> count == 0);
    assertThat(outcomes).as(hostile.name()).isEqualTo(hostile.due());
    assertThat(outcomes.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(hostile.batches().size());
    assertThat(rejected).as(hostile.name()).isEqualTo(hostile.batches().size()
        - outcomes.getOrDefault("accepted", 0) - outcomes.getOrDefault("duplicate", 0));
    assertThat(bytes).as("bytes that %s becomes", hostile.name()).isLessThan(hostile.batches().size() * 110_000_000L);
    acceptHonest();
    pipeline.punctuate(this::send);
    pipeline.save();
  }

  private void acceptHonest() {
    honest++;
    pipeline.accept(batch(1, honest).event(READ, tick(1), honest, honest).toByteArray(), at(++offset, 1), this::send);
  }

  private Map<String, Long> counted() {
    Map<String, Long> counts = new TreeMap<>();
    Map.of("accepted", "batches", "duplicate", "duplicates", "rejected", "rejected").forEach((outcome, name) -> {
      Matcher line = Pattern.compile("lifeline_" + name + "_total\\{.*} (\\d+)").matcher(metrics.text());
      counts.put(outcome, line.find() ? Long.parseLong(line.group(1)) : 0);
    });
    return counts;
  }

  private void send(Destination to, String key, String id, byte[] value) {
    bytes += value.length;
    if (to.equals(Destination.REJECTED)) {
      Matcher code = CODE.matcher(new String(value, StandardCharsets.UTF_8));
      assertThat(code.find()).isTrue();
      outcomes.merge(code.group(1), 1, Integer::sum);
    } else if (to.kind() == Destination.Kind.EVENTS && key.equals(HONEST)) {
      decodedOfHonest++;
    }
  }
}
