package io.lifeline.console.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TargetsTest {

  @Test
  void onlyPublicAddressesAndNamedHostsAreTargets() {
    Targets targets = new Targets(Set.of("10.1.2.3", "[fd00::1]"));
    for (String host : List.of("127.0.0.1", "127.9.9.9", "0", "0.0.0.0", "2130706433", "169.254.169.254",
        "10.1.2.4", "172.16.0.1", "192.168.1.1", "100.64.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "[::1]",
        "[::]", "[fe80::1]", "[fc00::1]", "[fd00::2]", "[::ffff:127.0.0.1]", "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]", "[2002:7f00:1::]", "[::127.0.0.1]", "[ff02::1]", "localhost")) {
      URI url = URI.create("http://" + host + ":80/x");
      if (url.getHost() != null) {
        assertThat(targets.refusal(url)).as(host).contains("not a public one");
      }
    }
    for (String host : List.of("10.1.2.3", "[fd00::1]", "8.8.8.8", "172.32.0.1", "100.128.0.1", "[2001:4860::1]",
        "[2002:808:808::]", "no-such-host.invalid")) {
      assertThat(targets.refusal(URI.create("http://" + host + "/"))).as(host).isNull();
    }
    assertThat(new Targets(Set.of("*")).refusal(URI.create("http://127.0.0.1/"))).isNull();
  }
}
