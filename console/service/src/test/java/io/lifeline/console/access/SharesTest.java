package io.lifeline.console.access;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SharesTest {

  @Test
  void aCallerGetsItsPartAndNoMore() throws Exception {
    Shares shares = new Shares(5, 2);
    Shares.Place first = shares.tryTake("a");
    assertThat(shares.tryTake("a")).isNotNull();
    assertThat(shares.tryTake("a")).isNull();
    assertThat(shares.tryTake("b")).isNotNull();
    assertThat(shares.tryTake(null)).isNotNull();
    assertThat(shares.tryTake(null)).isNotNull();
    assertThat(shares.tryTake("c")).isNull();
    first.close();
    first.close();
    assertThat(shares.taken()).isEqualTo(4);
    assertThat(shares.take("a", 60_000)).isNotNull();
    assertThat(shares.take("c", 1)).isNull();
  }

  @Test
  void whoWaitsGetsThePlaceThatBecomesFree() throws Exception {
    Shares shares = new Shares(1, 1);
    Shares.Place taken = shares.tryTake("a");
    Thread free = new Thread(taken::close);
    free.start();
    assertThat(shares.take("b", 60_000)).isNotNull();
    free.join();
  }
}
