package io.lifeline.jobs.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.live.BrokerOptions;
import io.lifeline.jobs.live.Hosts;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the raised alerts. */
@Command(
    name = "alerts",
    description = {
      "Prints active alerts, newest first: those that jobs have published and not cleared since.",
      "An alert of the job bottleneck names the component that limits a group, and the evidence: it is the slowest, "
          + "or it became uneven while the whole became slower and no component did."
    },
    mixinStandardHelpOptions = true)
final class AlertsCommand implements Callable<Integer> {

  @Mixin private BrokerOptions options;
  @Spec private CommandSpec spec;

  @Option(names = "--all", description = "Also print cleared alerts.")
  private boolean all;

  @Option(names = "--json", description = "Print one JSON object per alert, with its evidence.")
  private boolean json;

  @Override
  public Integer call() throws HostException, IOException {
    JobConfig config = options.load();
    List<JsonNode> alerts = new ArrayList<>();
    ObjectMapper mapper = new ObjectMapper();
    for (byte[] value : Hosts.upserts(config).latest(Destination.ALERTS).values()) {
      JsonNode alert = mapper.readTree(value);
      if (all || AlertTable.isOn(alert)) {
        alerts.add(alert);
      }
    }
    alerts.sort(Comparator.comparingLong((JsonNode alert) -> alert.path("at_ns").asLong()).reversed());
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      alerts.forEach(out::println);
    } else {
      AlertTable.print(alerts, out);
    }
    out.flush();
    return 0;
  }
}
