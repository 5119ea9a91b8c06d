package io.lifeline.console.web;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import io.javalin.http.MethodNotAllowedResponse;
import io.javalin.http.staticfiles.Location;
import io.javalin.json.JavalinJackson;
import io.lifeline.console.access.Access;
import io.lifeline.console.access.Audit;
import io.lifeline.console.access.Login;
import io.lifeline.console.access.Refusal;
import io.lifeline.console.access.Role;
import io.lifeline.console.access.Tls;
import io.lifeline.jobs.core.Metrics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The HTTP server: the operations below {@code /api/v1}, their documentation, metrics, and the page. */
public final class Server implements AutoCloseable {
  static final String API = "/api/v1";
  private static final Logger LOG = LoggerFactory.getLogger(Server.class);
  private static final String PROBLEM = "application/problem+json";
  private static final long LARGEST_REQUEST = 1 << 20;
  /** Several parameters of the greatest length, each of whose characters takes twelve bytes. */
  private static final int LARGEST_HEADER = 64 << 10;
  private static final int UNAVAILABLE = 503;
  private static final String RETRY_S = "5";
  private static final long UNREAD_MS = 30_000;
  private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

  /** Nothing but the page's own files is loaded, and the page is in no other one's frame. */
  private static final Map<String, String> HEADERS = Map.of(
      "Content-Security-Policy", "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none';"
          + " form-action 'none'; frame-ancestors 'none'",
      "X-Content-Type-Options", "nosniff",
      "Referrer-Policy", "no-referrer",
      "Cross-Origin-Opener-Policy", "same-origin",
      "Cross-Origin-Resource-Policy", "same-origin");

  private final Javalin javalin;
  private final Listener listener;
  private final Bodies bodies;

  private Server(Javalin javalin, Listener listener, Bodies bodies) {
    this.bodies = bodies;
    this.javalin = javalin;
    this.listener = listener;
  }

  /**
   * Where to listen.
   *
   * @param host name or address
   * @param port 0 for a free one
   * @param tls null for none
   * @param proxies whose word counts for how a request reached them
   */
  public record Address(String host, int port, Tls tls, Proxies proxies) {
    public Address(String host, int port, Tls tls) {
      this(host, port, tls, Proxies.NONE);
    }
  }

  /** Starts to serve where the listener listens, which ends with the server. */
  public static Server start(Listener listener, Routes routes, Metrics metrics, Access access, Audit audit)
      throws IOException {
    return start(listener, routes, metrics, access, audit, UNREAD_MS, Bodies.LIMIT_MS);
  }

  static Server start(Address address, Routes routes, Metrics metrics, Access access, Audit audit)
      throws IOException {
    return start(Listener.open(address), routes, metrics, access, audit);
  }

  /** @param unreadMs a stream of events is closed if its client reads nothing for so long */
  static Server start(Address address, Routes routes, Metrics metrics, Access access, Audit audit, long unreadMs)
      throws IOException {
    return start(Listener.open(address), routes, metrics, access, audit, unreadMs, Bodies.LIMIT_MS);
  }

  /** @param bodyMs a connection is closed if the body of a request takes longer */
  static Server start(Listener listener, Routes routes, Metrics metrics, Access access, Audit audit, long unreadMs,
      long bodyMs) throws IOException {
    Bodies bodies = new Bodies(bodyMs);
    Gate gate = new Gate(access);
    Auditing auditing = new Auditing(audit);
    ObjectMapper json = JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
        DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();
    Javalin javalin = Javalin.create(config -> {
      configure(config, json, listener.address().proxies());
      config.jetty.addConnector((server, http) -> connector(server, http, listener));
      config.routes.before(context -> HEADERS.forEach(context::header));
      config.routes.before(context -> requireOwnName(context, access));
      for (Operation operation : routes.operations()) {
        config.routes.addHttpHandler(operation.method(), API + operation.path(),
            context -> answer(context, operation, json, gate, bodies, auditing, unreadMs));
      }
      byte[] document = OpenApi.document(routes.operations(), json);
      config.routes.get(API + "/openapi.json", context -> {
        gate.admit(context, Role.VIEW, "openapi.json");
        context.contentType("application/json").result(document);
      });
      config.routes.get("/metrics", context -> {
        gate.admit(context, Role.VIEW, "/metrics");
        context.contentType("text/plain; version=0.0.4; charset=utf-8").result(metrics.text());
      });
      config.routes.exception(Problem.class, (problem, context) -> problem(context, problem, json));
      config.routes.exception(Refusal.class, (refusal, context) -> refused(context, refusal, json));
      config.routes.exception(HttpResponseException.class, (e, context) -> {
        if (e instanceof MethodNotAllowedResponse) {
          context.header("Allow", String.join(", ", e.getDetails().values()));
        }
        problem(context, new Problem(e.getStatus(), e.getMessage()), json);
      });
      config.routes.exception(Exception.class, (e, context) -> fault(context, e, json));
    });
    try {
      javalin.start();
    } catch (RuntimeException e) {
      javalin.stop();
      listener.close();
      throw new IOException("the web server does not start: " + e, e);
    }
    return new Server(javalin, listener, bodies);
  }

  private static void configure(JavalinConfig config, ObjectMapper json, Proxies proxies) {
    config.jsonMapper(new JavalinJackson(json, false));
    config.startup.showJavalinBanner = false;
    config.startup.showOldJavalinVersionWarning = false;
    config.http.maxRequestSize = LARGEST_REQUEST;
    config.http.prefer405over404 = true;
    config.concurrency.useVirtualThreads = Runtime.version().feature() >= FIRST_WITH_VIRTUAL_THREADS;
    config.jetty.modifyHttpConfiguration(http -> {
      http.setSendServerVersion(false);
      http.setRequestHeaderSize(LARGEST_HEADER);
      http.addCustomizer(proxies);
    });
    if (Server.class.getResource("/page/index.html") != null) {
      config.staticFiles.add(files -> {
        files.directory = "/page";
        files.location = Location.CLASSPATH;
        files.headers = Map.of("Cache-Control", "no-cache");
      });
    }
  }

  private static ServerConnector connector(org.eclipse.jetty.server.Server server, HttpConfiguration plain,
      Listener listener) {
    ServerConnector connector = listener.address().tls() == null
        ? new ServerConnector(server, new HttpConnectionFactory(plain)) : encrypted(server, plain, listener.address());
    Proxies proxies = listener.address().proxies();
    connector.addBean(new ConnectionsPerAddress(ConnectionsPerAddress.MOST,
        from -> !from.isLoopbackAddress() && !proxies.trusts(from)));
    try {
      listener.handTo(connector);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return connector;
  }

  private static ServerConnector encrypted(org.eclipse.jetty.server.Server server, HttpConfiguration plain,
      Address address) {
    SslContextFactory.Server tls = new SslContextFactory.Server();
    tls.setSslContext(address.tls().context());
    tls.setIncludeProtocols("TLSv1.3", "TLSv1.2");
    tls.setWantClientAuth(address.tls().asksClients());
    tls.setNeedClientAuth(address.tls().needsClients());
    HttpConfiguration secure = new HttpConfiguration(plain);
    secure.addCustomizer(new SecureRequestCustomizer());
    return new ServerConnector(server, tls, new HttpConnectionFactory(secure));
  }

  /**
   * Refuses requests that a foreign page sends with the browser of somebody who may reach this server: those come under
   * another name (DNS rebinding) or from another origin. With a login a foreign name is harmless: no browser sends this
   * server's cookie under it, and its certificate holds for no such name.
   */
  private static void requireOwnName(Context context, Access access) {
    String name = context.host();
    String bare = name == null ? "" : name.replaceFirst(":[0-9]+$", "").toLowerCase(Locale.ROOT);
    if (!access.needsLogin() && !Set.of("localhost", "127.0.0.1", "[::1]").contains(bare)) {
      throw new Problem(403, (bare.isEmpty() ? "the request names no server" : "this server is not called " + bare)
          + ": open it as " + context.scheme() + "://127.0.0.1:" + context.req().getLocalPort());
    }
    String origin = context.header("Origin");
    if (origin != null && !origin.equals(context.scheme() + "://" + name)) {
      throw new Problem(403, "requests from pages of " + origin + " are not answered");
    }
  }

  private static void answer(Context context, Operation operation, ObjectMapper json, Gate gate,
      Bodies bodies, Auditing auditing, long unreadMs) throws Exception {
    context.header("Cache-Control", "no-store");
    Call call = new Call(context, operation, json, gate, bodies);
    try {
      gate.admit(context, operation.role(), operation.name());
    } catch (Refusal e) {
      auditing.refused(call, operation, e);
      throw e;
    }
    call.requireKnownParameters();
    Object answer = auditing.answer(call, operation);
    context.status(operation.status());
    if (answer instanceof EventStream stream) {
      Login login = call.login(); // the request may be gone when the stream asks
      EventClient.start(context, stream, json, unreadMs, () -> gate.ended(login), call.share());
    } else if (answer instanceof Content content) {
      context.contentType(content.mediaType()).result(content.bytes());
    } else if (answer != null) {
      context.contentType("application/json").result(json.writeValueAsBytes(answer));
    }
  }

  private static void problem(Context context, Problem problem, ObjectMapper json) {
    try {
      byte[] body = json.writeValueAsBytes(problem.body());
      if (problem.status() == UNAVAILABLE) {
        context.header("Retry-After", RETRY_S);
      }
      context.status(problem.status()).contentType(PROBLEM).result(body);
    } catch (IOException e) {
      throw new IllegalStateException("a problem cannot be written", e);
    }
  }

  private static void refused(Context context, Refusal refusal, ObjectMapper json) {
    if (refusal.status() == 401) {
      context.header("WWW-Authenticate", "Bearer realm=\"lifeline-console\""
          + (context.header("Authorization") == null ? "" : ", error=\"invalid_token\""));
    }
    if (refusal.waitSeconds() > 0) {
      context.header("Retry-After", Long.toString(refusal.waitSeconds()));
    }
    problem(context, new Problem(refusal.status(), refusal.getMessage()), json);
  }

  private static void fault(Context context, Exception e, ObjectMapper json) {
    LOG.error("{} {} failed", context.method(), context.path(), e);
    problem(context, new Problem(500, "the console failed: " + e + "; its log has more"), json);
  }

  /** Returns the page's address. */
  public String url() {
    return listener.url();
  }

  @Override
  public void close() {
    javalin.stop();
    bodies.close();
  }
}
