package io.lifeline.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NatsContextTest {

  @TempDir Path home;

  @Test
  void isFoundByItsNameWhereTheCommandKeepsIt() throws IOException {
    Path folder = Files.createDirectories(home.resolve(".config/nats/context"));
    Files.writeString(
        folder.resolve("prod.json"),
        """
        {"description": "all of it", "url": "nats://one:4222, nats://two:4222", "token": "", "user": "me",
         "password": "secret", "creds": "~/prod.creds", "nkey": "", "cert": "client.pem", "key": "/etc/client.key",
         "ca": "", "jetstream_domain": "hub", "tls_first": true, "unknown": {"of": ["a", "later", "version"]}}
        """);
    NatsContext context = NatsContext.read("prod", Map.of("HOME", home.toString()));
    assertThat(context.servers()).containsExactly("nats://one:4222", "nats://two:4222");
    assertThat(context.user()).contains("me");
    assertThat(context.password()).contains("secret");
    assertThat(context.token()).isEmpty();
    assertThat(context.creds()).contains(home.resolve("prod.creds"));
    assertThat(context.nkey()).isEmpty();
    assertThat(context.authority()).isEmpty();
    assertThat(context.certificate()).contains(folder.resolve("client.pem"));
    assertThat(context.key()).contains(Path.of("/etc/client.key"));
    assertThat(context.jetStreamDomain()).contains("hub");
    assertThat(context.tlsFirst()).isTrue();
  }

  @Test
  void credentialsOfAnAddressAreTakenOutOfWhatIsShown() throws IOException {
    Path file = home.resolve("in-url.json");
    Files.writeString(file, "{\"url\": \"nats://me:s%40cret+@one:4222, tls://me:s%40cret+@two:4222\"}");
    NatsContext context = NatsContext.read(file.toString(), Map.of());
    assertThat(context.servers()).containsExactly("nats://one:4222", "tls://two:4222");
    assertThat(context.user()).contains("me");
    assertThat(context.password()).contains("s@cret+");
    assertThat(context.token()).isEmpty();

    Files.writeString(file, "{\"url\": \"t0ken@one:4222\"}");
    NatsContext withToken = NatsContext.read(file.toString(), Map.of());
    assertThat(withToken.servers()).containsExactly("one:4222");
    assertThat(withToken.token()).contains("t0ken");
    assertThat(withToken.user()).isEmpty();
    assertThat(withToken.password()).isEmpty();
  }

  @Test
  void whatIsNoContextIsSaidClearly() throws IOException {
    Map<String, String> environment = Map.of("XDG_CONFIG_HOME", home.toString());
    assertThatThrownBy(() -> NatsContext.read("prod", environment))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the NATS context 'prod' cannot be read from " + home.resolve("nats/context/prod.json")
                + "; see 'nats context ls', as this user");
    assertThatThrownBy(() -> NatsContext.read("../prod", environment))
        .hasMessage("'../prod' is neither a context name nor an absolute path");
    Path list = Files.writeString(home.resolve("list.json"), "[1]");
    assertThatThrownBy(() -> NatsContext.read(list.toString(), environment))
        .hasMessage(list + " is not a context: it contains no JSON object");
    Path text = Files.writeString(home.resolve("text.json"), "password=secret");
    assertThatThrownBy(() -> NatsContext.read(text.toString(), environment))
        .hasMessage(text + " is not a context: it contains no JSON");
  }
}
