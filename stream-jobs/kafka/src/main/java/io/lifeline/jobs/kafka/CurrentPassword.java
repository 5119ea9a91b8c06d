package io.lifeline.jobs.kafka;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.authenticator.SaslClientCallbackHandler;

/**
 * The password of a login, read from its file each time: a client otherwise knows only the one that it began with.
 *
 * <p>Public because the client creates it by name.
 */
public final class CurrentPassword implements AuthenticateCallbackHandler {

  /** Setting with the file's path. */
  static final String FILE = "lifeline.password.file";

  private final AuthenticateCallbackHandler first = new SaslClientCallbackHandler();
  private Path file;

  @Override
  public void configure(Map<String, ?> settings, String mechanism, List<AppConfigurationEntry> login) {
    first.configure(settings, mechanism, login);
    file = Path.of((String) settings.get(FILE));
  }

  @Override
  public void handle(Callback[] callbacks) throws UnsupportedCallbackException, IOException {
    for (Callback callback : callbacks) {
      String now = callback instanceof PasswordCallback ? read() : null;
      if (now == null) {
        first.handle(new Callback[] {callback});
      } else {
        ((PasswordCallback) callback).setPassword(now.toCharArray());
      }
    }
  }

  /** Returns null while the file is being replaced: the former password then counts. */
  private String read() {
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      String line = reader.readLine();
      return line == null || line.isEmpty() ? null : line;
    } catch (IOException e) {
      return null;
    }
  }

  @Override
  public void close() {
    first.close();
  }
}
