package io.lifeline.jobs.cli.directory;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Terminal;
import io.lifeline.jobs.core.TextTable;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.directory.Answer;
import io.lifeline.jobs.core.directory.EmitterRow;
import io.lifeline.jobs.live.Activation;
import io.lifeline.jobs.live.ActivationException;
import io.lifeline.jobs.live.Activations;
import io.lifeline.jobs.live.Following;
import io.lifeline.jobs.live.Programs;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows what is switched on, and who follows. */
@Command(
    name = "activations",
    mixinStandardHelpOptions = true,
    description = {
      "Prints the activations on the control topic, and which of the emitters that each is for follow it, refuse it or"
          + " have not answered. lifeline-activate sets and ends them.",
      "An emitter that answered before --history counts as one that has not."
    },
    footer = {"", "Example:", "  lifeline-jobs activations --broker nats://127.0.0.1:4222 --emitters"})
public final class ActivationsCommand implements Callable<Integer> {
  private static final List<String> COLUMNS = List.of("id", "activation", "left", "follow", "refuse", "silent");
  private static final int NAMES = 2;

  @Mixin private final DirectoryOptions options = new DirectoryOptions();
  @Spec private CommandSpec spec;

  @Option(names = "--emitters", description = "also name the emitters that refuse it or have not answered")
  private boolean emitters;

  @Option(names = "--json", description = "print a JSON object per activation and line, with all emitters")
  private boolean json;

  @Override
  public Integer call() throws ActivationException, HostException, InterruptedException {
    JobConfig settings = options.settings();
    List<Activation> activations = new Activations(settings, Programs.installed()).list();
    List<EmitterRow> known = options.read(settings).rows();
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      activations.forEach(activation -> out.println(json(activation, Following.of(activation, known))));
    } else {
      print(activations, known, out);
    }
    out.flush();
    return 0;
  }

  private void print(List<Activation> activations, List<EmitterRow> known, PrintWriter out) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(COLUMNS);
    List<String> members = new ArrayList<>();
    for (Activation activation : activations) {
      Following all = Following.of(activation, known);
      String id = Terminal.printable(activation.id());
      rows.add(List.of(id, Terminal.printable(activation.line()), left(activation),
          Integer.toString(all.following().size()), Integer.toString(all.refusing().size()),
          Integer.toString(all.silent().size())));
      all.refusing().forEach(emitter -> members.add(id + ": " + name(emitter) + " refuses: "
          + Terminal.printable(String.valueOf(emitter.answers().get(activation.id()).reason()))));
      all.silent().forEach(emitter -> members.add(id + ": " + name(emitter) + " has not answered"));
    }
    TextTable.print(rows, NAMES, out);
    if (emitters) {
      members.forEach(out::println);
    }
    out.println("activations: " + activations.size());
  }

  private static String name(EmitterRow emitter) {
    return Terminal.printable(emitter.program() + " on " + emitter.host()) + ", pid " + emitter.pid();
  }

  private static String left(Activation activation) {
    return !activation.state().equals("running") ? activation.state()
        : activation.remainingMs() == null ? "when seen" : activation.remainingMs() / 1000 + " s";
  }

  private static ObjectNode json(Activation activation, Following all) {
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode node = mapper.valueToTree(activation);
    node.set("following", members(mapper, activation, all.following()));
    node.set("refusing", members(mapper, activation, all.refusing()));
    node.set("silent", members(mapper, activation, all.silent()));
    return node;
  }

  private static ArrayNode members(ObjectMapper mapper, Activation activation, List<EmitterRow> emitters) {
    ArrayNode members = mapper.createArrayNode();
    for (EmitterRow emitter : emitters) {
      Answer answer = emitter.answers().get(activation.id());
      ObjectNode member = members.addObject().put("incarnation", emitter.incarnation().toString())
          .put("program", emitter.program()).put("host", emitter.host()).put("pid", emitter.pid());
      if (answer != null && answer.reason() != null) {
        member.put("reason", answer.reason());
      }
    }
    return members;
  }
}
