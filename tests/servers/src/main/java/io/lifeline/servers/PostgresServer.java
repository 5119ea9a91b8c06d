package io.lifeline.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** A real PostgreSQL of this test's own, through scripts/postgres. */
public final class PostgresServer implements AutoCloseable {
  private static PostgresServer shared;

  private final Path directory;
  private final Properties environment = new Properties();

  private PostgresServer(Path directory) {
    this.directory = directory;
  }

  /** The server that all tests of this process share; it ends with the process. Each test takes a schema of its own. */
  public static synchronized PostgresServer shared() throws IOException, InterruptedException {
    if (shared == null) {
      shared = start(Files.createTempDirectory("lifeline-postgres-test"), "--fast");
      PostgresServer server = shared;
      Runtime.getRuntime().addShutdownHook(new Thread(() -> {
        try {
          server.close();
        } catch (IOException | InterruptedException e) {
          // The script ends the server once this process has gone.
        }
      }));
    }
    return shared;
  }

  /** Starts a server that this directory stands for; it also ends when this test's process does. */
  public static PostgresServer start(Path directory, String... options) throws IOException, InterruptedException {
    PostgresServer server = new PostgresServer(directory);
    server.start(List.of(options));
    return server;
  }

  /** Starts it again. */
  public void start() throws IOException, InterruptedException {
    start(List.of());
  }

  private void start(List<String> options) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("start", "--owner", Long.toString(ProcessHandle.current().pid())));
    command.addAll(options);
    script(command);
    try (var reader = Files.newBufferedReader(directory.resolve("postgres.env"))) {
      environment.load(reader);
    }
  }

  /** As a crash would. */
  public void kill() throws IOException, InterruptedException {
    script(List.of("kill"));
  }

  public void stop() throws IOException, InterruptedException {
    script(List.of("stop"));
  }

  /** Of the database, without the password. */
  public String url() {
    return environment.getProperty("LIFELINE_POSTGRES_URL");
  }

  public Path passwordFile() {
    return Path.of(environment.getProperty("LIFELINE_POSTGRES_PASSWORD_FILE"));
  }

  /** The authority's certificate, of a server with TLS. */
  public Path certificates() {
    return Path.of(environment.getProperty("LIFELINE_POSTGRES_CA"));
  }

  /** Of the role that may only read. */
  public String readerUrl() {
    return environment.getProperty("LIFELINE_POSTGRES_READER_URL");
  }

  public Path readerPasswordFile() {
    return Path.of(environment.getProperty("LIFELINE_POSTGRES_READER_PASSWORD_FILE"));
  }

  /** Connects as the owner of the database. */
  public Connection connect() throws IOException, SQLException {
    return connect("lifeline", passwordFile());
  }

  private Connection connect(String user, Path passwordFile) throws IOException, SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", user);
    properties.setProperty("password", Files.readString(passwordFile).strip());
    return DriverManager.getConnection("jdbc:" + url().replace("lifeline@", ""), properties);
  }

  /** Runs statements as the owner of the database, each committed by itself. */
  public void execute(String... statements) throws IOException, SQLException {
    execute(connect(), statements);
  }

  /** Runs statements as the server's administrator, each committed by itself. */
  public void administer(String... statements) throws IOException, SQLException {
    execute(connect("postgres", Path.of(environment.getProperty("LIFELINE_POSTGRES_ADMIN_PASSWORD_FILE"))), statements);
  }

  private static void execute(Connection database, String... statements) throws SQLException {
    try (Connection connection = database; Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  /** Ends it and deletes its data. */
  @Override
  public void close() throws IOException, InterruptedException {
    script(List.of("remove"));
  }

  private void script(List<String> arguments) throws IOException, InterruptedException {
    Scripts.run("scripts/postgres", directory, arguments);
  }
}
