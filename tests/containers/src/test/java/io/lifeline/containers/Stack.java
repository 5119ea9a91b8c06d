package io.lifeline.containers;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A stack of compose/, in a project of its own and on any free ports; {@link #close} removes it with its volumes. */
final class Stack implements AutoCloseable {

  private static final List<String> PORTS =
      List.of(
          "NATS_1_PORT", "NATS_2_PORT", "NATS_3_PORT", "KAFKA_1_PORT", "KAFKA_2_PORT", "KAFKA_3_PORT", "NATS_PORT",
          "KAFKA_PORT", "POSTGRES_PORT", "CONNECT_PORT", "JOBS_PORT");

  private static final AtomicInteger COUNT = new AtomicInteger();

  private final String project;
  private final List<String> compose;
  private final Map<String, String> environment = new HashMap<>();

  private Stack(int number, List<Path> files) {
    project = "lifeline-test-" + Images.OWNER + "-" + number;
    environment.put("COMPOSE_PROJECT_NAME", project);
    environment.putAll(Images.variables());
    compose = new ArrayList<>(List.of("docker", "compose"));
    files.forEach(file -> compose.addAll(List.of("--file", file.toString())));
    PORTS.forEach(port -> environment.put(port, "0"));
  }

  /** Starts the stack of that name, with the services that a test adds to it, and waits until all is healthy. */
  static Stack up(String name, Path... additions) {
    Stream<Path> files = Stream.concat(Stream.of(Images.ROOT.resolve("compose").resolve(name)), Stream.of(additions));
    Stack stack = new Stack(COUNT.incrementAndGet(), files.toList());
    try {
      stack.compose("up", "--wait", "--quiet-pull");
      return stack;
    } catch (AssertionError e) {
      String logs = stack.compose("logs", "--no-color", "--tail", "40");
      stack.close();
      throw new AssertionError(logs, e);
    }
  }

  /** A file beside this class. */
  static Path addition(String name) {
    return Path.of("src/test/resources", name).toAbsolutePath();
  }

  String compose(String... arguments) {
    return Command.run(command(arguments), environment);
  }

  /** Runs one of the scripts in compose/ on this stack. */
  String script(String name, String... arguments) {
    List<String> command = new ArrayList<>(List.of(Images.ROOT.resolve("compose").resolve(name).toString()));
    command.addAll(List.of(arguments));
    return Command.run(command, environment);
  }

  /** Runs a command in a running service. Compose itself would read all of its files for that. */
  String exec(String service, String... command) {
    List<String> exec = new ArrayList<>(List.of("docker", "exec", container(service)));
    exec.addAll(List.of(command));
    return Command.run(exec, environment);
  }

  /** Starts a one-off container of a service; {@link Command#finish} waits for it. */
  Process start(String service) {
    return Command.start(command("run", "--rm", "-T", "--name", container(service), service), environment);
  }

  /** Asks a service's program to end. */
  void end(String service) {
    Command.run(List.of("docker", "kill", "--signal", "TERM", container(service)), environment);
  }

  /** As a crash would. */
  void kill(String service) {
    Command.run(List.of("docker", "kill", container(service)), environment);
  }

  /** Starts a server that was killed, on its own data, and waits until it is healthy. */
  void startAgain(String service) {
    compose("up", "--wait", "--no-deps", "--no-recreate", service);
  }

  private String container(String service) {
    return project + "-" + service + "-1";
  }

  private List<String> command(String... arguments) {
    List<String> command = new ArrayList<>(compose);
    command.addAll(List.of(arguments));
    return command;
  }

  @Override
  public void close() {
    compose("down", "--volumes", "--timeout", "0");
  }
}
