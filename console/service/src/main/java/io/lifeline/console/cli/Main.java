package io.lifeline.console.cli;

import io.lifeline.console.access.Access;
import io.lifeline.console.access.Audit;
import io.lifeline.console.access.Refusal;
import io.lifeline.console.alerts.PacedUpserts;
import io.lifeline.console.archive.Workers;
import io.lifeline.console.events.EventLog;
import io.lifeline.console.events.TimeText;
import io.lifeline.console.feed.Feed;
import io.lifeline.console.index.Span;
import io.lifeline.console.index.TraceIndex;
import io.lifeline.console.web.AccessOperations;
import io.lifeline.console.web.ActivationOperations;
import io.lifeline.console.web.AlertOperations;
import io.lifeline.console.web.ArchiveOperations;
import io.lifeline.console.web.ArchiveQuestions;
import io.lifeline.console.web.EmitterOperations;
import io.lifeline.console.web.EventOperations;
import io.lifeline.console.web.Listener;
import io.lifeline.console.web.ReportOperations;
import io.lifeline.console.web.Routes;
import io.lifeline.console.web.Server;
import io.lifeline.console.web.SessionOperations;
import io.lifeline.console.web.StatusOperations;
import io.lifeline.console.web.SummaryOperations;
import io.lifeline.console.web.TraceOperations;
import io.lifeline.console.web.WebhookOperations;
import io.lifeline.console.webhook.AlertWatch;
import io.lifeline.console.webhook.DeliveryLimits;
import io.lifeline.console.webhook.Targets;
import io.lifeline.console.webhook.Webhooks;
import io.lifeline.jobs.archive.location.ArchiveConnection;
import io.lifeline.jobs.archive.sql.ArchiveLocation;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Upserts;
import io.lifeline.jobs.core.config.BrokerUrl;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.directory.Directory;
import io.lifeline.jobs.core.live.LiveMessages;
import io.lifeline.jobs.core.live.LiveStart;
import io.lifeline.jobs.live.Activations;
import io.lifeline.jobs.live.CheckedOutput;
import io.lifeline.jobs.live.ConfigOptions;
import io.lifeline.jobs.live.EmittedEvents;
import io.lifeline.jobs.live.Hosts;
import io.lifeline.jobs.live.Programs;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Serves the operator's page. */
@Command(
    name = "lifeline-console",
    mixinStandardHelpOptions = true,
    version = "lifeline-console 0.1.0",
    subcommands = TokenCommand.class,
    description = {
      "Serves a page that shows the events of an archive, of a broker, or of both: lifelines, durations, what is slow,"
          + " SQL.",
      "Prints one line 'console: URL' when it serves, and runs until SIGINT or SIGTERM. It listens from the beginning:"
          + " what connects while the archive is opened waits."
    },
    footer = {
      "",
      "Examples:",
      "  lifeline-console archive",
      "  lifeline-console archive --broker nats://127.0.0.1:4222",
      "  lifeline-console postgresql://me@db.example/events --listen 127.0.0.1:8080",
      "  lifeline-console archive --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --tokens tokens.json"
    })
public final class Main implements Callable<Integer> {
  private static final int EXIT_USAGE = 2;
  private static final int INVALID = 400;
  private static final String PROGRAM = "lifeline-console";
  /** Bytes that the index takes per event, objects included. */
  private static final long BYTES_PER_EVENT = 48;
  private static final long QUERY_MEMORY = 1L << 30;
  private static final long QUERY_MS = 30_000;
  /** Of the newest batches, for subscribers: at most this, and at most so large a part of the heap. */
  private static final long LOG_BYTES = 64L << 20;
  private static final long LOG_PART = 16;
  /** Between two looks at the broker's alerts, however many pages show them. */
  private static final long ALERTS_PACE_MS = 1_000;

  @Parameters(paramLabel = "ARCHIVE", arity = "0..1",
      description = "directory of the archive, or URL of its database: archive.dir or archive.url of the jobs")
  private String archive;

  @Mixin
  private final ArchiveConnection connection = new ArchiveConnection();

  @Mixin
  private final ConfigOptions config = new ConfigOptions();

  @Option(names = "--broker", paramLabel = "URL",
      description = "broker whose events are shown as they arrive: broker.url of the jobs. Credentials: see --config")
  private String broker;

  @Option(names = "--history", paramLabel = "TIME", defaultValue = "1h",
      description = "how far back to read the broker if there is no archive: 30s, 10m, 1h (default: ${DEFAULT-VALUE})")
  private Duration history;

  @Mixin
  private final AccessOptions protection = new AccessOptions();

  @Option(names = "--events", paramLabel = "N",
      description = "how many of the newest events to keep in memory (default: as many as half the heap holds)")
  private Integer events;

  @Option(names = "--webhooks", paramLabel = "FILE",
      description = "keep webhooks in this file, which only its owner may read (default: until the console ends)")
  private Path webhookFile;

  @Option(names = "--webhook-hosts", paramLabel = "HOST", split = ",",
      description = "also send webhooks to these hosts, whose addresses are loopback, link-local or private; * for all")
  private List<String> webhookHosts = List.of();

  @Spec
  private CommandSpec spec;

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    CommandLine command = new CommandLine(new Main());
    return command
        .setExecutionStrategy(new CheckedOutput())
        .registerConverter(Duration.class, Main::duration)
        .setParameterExceptionHandler((e, arguments) -> {
          command.getErr().println("lifeline-console: " + e.getMessage() + " (try --help)");
          return EXIT_USAGE;
        })
        .setExecutionExceptionHandler((e, line, parsed) -> {
          line.getErr().println("lifeline-console: " + e.getMessage());
          boolean usage = e instanceof ConfigException || e instanceof Refusal why && why.status() == INVALID;
          return usage ? EXIT_USAGE : 1;
        });
  }

  private static Duration duration(String text) {
    try {
      return TimeText.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException("'" + text + "' " + e.getMessage());
    }
  }

  @Override
  public Integer call() throws IOException, SQLException, InterruptedException {
    if (archive == null && broker == null) {
      throw new ParameterException(spec.commandLine(), "what is to be shown? Give an ARCHIVE, a --broker, or both");
    }
    try (Listener listener = Listener.open(protection.address())) {
      return serve(listener);
    }
  }

  private int serve(Listener listener) throws IOException, SQLException, InterruptedException {
    Access callers = protection.access();
    Audit audit = protection.audit();
    long limit = events != null ? events : Runtime.getRuntime().maxMemory() / 2 / BYTES_PER_EVENT;
    TraceIndex index = new TraceIndex((int) Math.min(limit, 1_000_000_000));
    Metrics metrics = new Metrics();
    metrics.gauge("lifeline_console_events", "Events in memory", () -> index.added() - index.forgotten());
    EventLog log = new EventLog(Math.min(LOG_BYTES, Runtime.getRuntime().maxMemory() / LOG_PART));
    EventOperations subscriptions = new EventOperations(log, broker != null);
    metrics.gauge("lifeline_console_subscribers", "Clients that receive events", subscriptions::clients);
    Function<LiveStart, LiveMessages> messages = messages();
    Directory directory = broker == null ? null : new Directory();
    JobConfig settings = broker == null ? null : config.load(Keys.BROKER_URL_KEY, broker);
    Upserts published = broker == null ? null : new PacedUpserts(Hosts.upserts(settings), ALERTS_PACE_MS);
    Activations activations = broker == null ? null : new Activations(settings, Programs.installed());
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      end.countDown();
      await(ended);
    }, "lifeline-end"));
    ArchiveLocation location = archive == null ? null : connection.location(archive);
    if (location != null && broker == null) {
      spec.commandLine().getErr().println("lifeline-console: opening " + archive + " for " + listener.url());
      location.openForStrangers(QUERY_MEMORY, 0).close();
    }
    try (Workers workers = location == null ? null
            : new Workers(WorkerMain.class.getName(), location, QUERY_MEMORY, QUERY_MS);
        Webhooks webhooks = new Webhooks(log, webhookFile, DeliveryLimits.USUAL, new Targets(Set.copyOf(webhookHosts)));
        AlertWatch alerts = broker == null ? null
            : new AlertWatch(() -> Hosts.published(settings, LiveStart.NOW, Destination.ALERTS), webhooks);
        EmittedEvents own = broker == null ? null : new EmittedEvents(settings, Programs.installed(), PROGRAM);
        Feed feed = new Feed(index, log,
            location == null ? null : () -> location.openForStrangers(null, 0), messages, directory, history, limit)) {
      Audit audited = own == null ? audit : audit.emitting(fields -> own.emit("console.audit", fields));
      StatusOperations status = new StatusOperations(() -> status(index, feed, limit));
      ArchiveQuestions questions = new ArchiveQuestions(workers);
      Routes routes = Routes.of(status, new TraceOperations(index, questions),
          new ArchiveOperations(questions), new ReportOperations(questions), new SessionOperations(questions),
          new AccessOperations(callers), new EmitterOperations(directory),
          new ActivationOperations(activations, directory), new AlertOperations(published),
          new SummaryOperations(index), subscriptions, new WebhookOperations(webhooks, broker != null));
      try (Server server = Server.start(listener, routes, metrics, callers, audited)) {
        feed.start();
        PrintWriter out = spec.commandLine().getOut();
        out.println("console: " + server.url());
        out.flush();
        end.await();
      }
    } finally {
      ended.countDown();
    }
    return 0;
  }

  private Function<LiveStart, LiveMessages> messages() {
    if (broker == null) {
      return null;
    }
    JobConfig settings = config.load(Keys.BROKER_URL_KEY, broker);
    return start -> Hosts.messages(settings, start);
  }

  private StatusOperations.Status status(TraceIndex index, Feed feed, long limit) {
    String error = feed.archiveError();
    StatusOperations.Index events = index.read(snapshot -> {
      Span span = snapshot.span();
      return new StatusOperations.Index(index.added() - index.forgotten(), snapshot.objectCount(),
          snapshot.kinds().size(), limit, feed.progress().loading(), feed.progress().share(),
          span == null ? null : Long.toString(span.from()), span == null ? null : Long.toString(span.to()),
          index.forgotten());
    });
    Instant now = Instant.now();
    return new StatusOperations.Status("0.1.0", null,
        new StatusOperations.Archive(archive, archive == null ? "none" : error == null ? "ok" : "error", error),
        broker(feed), events,
        Long.toString(now.getEpochSecond() * 1_000_000_000 + now.getNano()));
  }

  private StatusOperations.Broker broker(Feed feed) {
    if (broker == null) {
      return new StatusOperations.Broker(null, null, "none", null);
    }
    BrokerUrl url = config.load(Keys.BROKER_URL_KEY, broker).get(Keys.BROKER_URL_KEY);
    String error = feed.brokerError();
    return new StatusOperations.Broker(url.scheme().name().toLowerCase(Locale.ROOT), url.toString(),
        error == null ? "connected" : "disconnected", error);
  }

  private static void await(CountDownLatch ended) {
    try {
      ended.await(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
