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
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the ledger that the job ledger has published. */
@Command(
    name = "ledger",
    description = {
      "Prints the balance of every emitter and route, as last published by the job ledger.",
      "emitted = archived + in flight + dropped + expired + not archived + missing; without an archive, received stands"
          + " for archived. Not archived: expired before the archive read them, or rejected by it."
    },
    mixinStandardHelpOptions = true)
final class LedgerCommand implements Callable<Integer> {

  @Mixin private BrokerOptions options;
  @Spec private CommandSpec spec;

  @Option(names = "--json", description = "Print one JSON object per emitter and route, with all counters.")
  private boolean json;

  @Override
  public Integer call() throws HostException, IOException {
    JobConfig config = options.load();
    List<JsonNode> balances = new ArrayList<>();
    ObjectMapper mapper = new ObjectMapper();
    for (byte[] value : Hosts.upserts(config).latest(Destination.LEDGER).values()) {
      balances.add(mapper.readTree(value));
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      balances.forEach(out::println);
    } else {
      LedgerTable.print(balances, out);
    }
    out.flush();
    return 0;
  }
}
