package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SubjectsTest {

  @Test
  void filtersOverlapIfSomeSubjectMatchesBoth() {
    assertThat(Subjects.overlap(">", "a.b")).isTrue();
    assertThat(Subjects.overlap("a.*", "a.b")).isTrue();
    assertThat(Subjects.overlap("a.*.c", "a.b.*")).isTrue();
    assertThat(Subjects.overlap("a.>", "a.b.c")).isTrue();
    assertThat(Subjects.overlap("a.b", "a.c")).isFalse();
    assertThat(Subjects.overlap("a.*", "a.b.c")).isFalse();
    assertThat(Subjects.overlap("a.>", "a")).as("> stands for at least one word").isFalse();
    assertThat(Subjects.overlap("a.>", "b.>")).isFalse();
  }

  @Test
  void aFilterIsNoSubjectToPublishTo() {
    assertThat(Subjects.isFilter("a.*.>")).isTrue();
    assertThat(Subjects.isFilter("a..b")).isFalse();
    assertThat(Subjects.isFilter("a.>.b")).isFalse();
    assertThat(Subjects.isFilter("a b")).isFalse();
    assertThat(Subjects.isSubject("a.b-c")).isTrue();
    assertThat(Subjects.isSubject("a.*")).isFalse();
    assertThat(Subjects.isSubject("a..b")).isFalse();
  }
}
