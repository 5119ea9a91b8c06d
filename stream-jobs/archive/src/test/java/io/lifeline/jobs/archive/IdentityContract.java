package io.lifeline.jobs.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Rejection;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What an {@link Archive} does when its source or the archive itself is not the one that it was: it compares them when it is
 * opened and whenever it stores, and refuses what does not continue it.
 */
abstract class IdentityContract {
  protected static final Incarnation EMITTER = new Incarnation(0x0123456789abcdefL, 1);
  protected static final String SERIALS =
      "SELECT count(*), count(DISTINCT serial), min(serial), max(serial) FROM \"test.serial\"";

  protected final List<Rejection> rejections = new ArrayList<>();

  /** Returns the same archive at each call. */
  protected abstract Archive archive(RollOptions roll) throws Exception;

  /** Returns the implementation's default. */
  protected abstract RollOptions defaultRoll();

  /** Returns the rows of a query, with cells joined by a blank. */
  protected abstract List<String> query(String sql) throws Exception;

  /** Moves the archive to another place, as if its disk were unmounted or its schema renamed. */
  protected abstract void moveTo(String elsewhere) throws Exception;

  /** Moves what {@link #moveTo} moved back. */
  protected abstract void moveBackFrom(String elsewhere) throws Exception;

  protected final ArchiveWriter open() throws Exception {
    return archive(defaultRoll()).open(rejections::add);
  }

  @Test
  void aTopicThatWasMadeAnewIsNotArchivedBehindTheOtherOne() throws Exception {
    String[] topic = {"first"};
    ArchiveFeed feed =
        new ArchiveFeed() {
          @Override
          public void reject(Rejection rejection) {
            rejections.add(rejection);
          }

          @Override
          public String source(int partition) {
            return topic[0];
          }
        };
    try (ArchiveWriter writer = archive(defaultRoll()).open(feed)) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      writer.roll();
      writer.append(Archives.at(1), Archives.serials(EMITTER, 2, 10));
      topic[0] = "second";
      assertThatThrownBy(writer::checkSources).isInstanceOf(ArchiveException.class);
      assertThatThrownBy(writer::roll).isInstanceOf(ArchiveException.class)
          .hasMessageContaining("up to offset 1 of first, and now there is another one of that name, second")
          .hasMessageContaining("give it another archive");
      writer.abandon();
    }
    try (ArchiveWriter writer = archive(defaultRoll()).open(feed)) {
      assertThatThrownBy(() -> writer.nextOffset(0)).isInstanceOf(ArchiveException.class);
    }
    topic[0] = "first";
    try (ArchiveWriter writer = archive(defaultRoll()).open(feed)) {
      assertThat(writer.nextOffset(0)).isEqualTo(1);
    }
    assertThat(query(SERIALS)).containsExactly("10 10 0 9");
  }

  /** For clients that know only offsets, such as Kafka Connect. */
  @Test
  void aPartitionWhoseLastMessageIsAnotherOneNowWasMadeAnew() throws Exception {
    byte[] last = Archives.serials(EMITTER, 2, 10);
    try (ArchiveWriter writer = open()) {
      assertThat(writer.comparableOffset(0)).isZero();
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      writer.append(Archives.at(1), last);
    }
    try (ArchiveWriter writer = open()) {
      assertThat(writer.comparableOffset(0)).isEqualTo(1);
      assertThat(writer.append(Archives.at(1), last)).isEqualTo(Appended.ALREADY_ARCHIVED);
      assertThatThrownBy(() -> writer.append(Archives.at(1), Archives.serials(EMITTER, 3, 10)))
          .isInstanceOf(ArchiveException.class).hasMessageContaining("recreated, so give it another archive");
    }
  }

  @Test
  void aBrokerThatLostItsTailIsRefusedUntilAnOperatorDecides() throws Exception {
    Archive archive = archive(defaultRoll());
    byte[] last = Archives.serials(EMITTER, 2, 10);
    try (ArchiveWriter writer = archive.open(rejections::add)) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      writer.roll();
      writer.checkEnd(0, 1);
      writer.append(Archives.at(1), last);
      assertThat(writer.comparableOffset(0)).as("also of what is not stored yet").isEqualTo(1);
      assertThat(writer.append(Archives.at(1), last)).isEqualTo(Appended.ALREADY_ARCHIVED);
      assertThatThrownBy(() -> writer.checkEnd(0, 1)).isInstanceOf(ArchiveException.class)
          .hasMessageContaining("it has read up to offset 2, but the source ends at offset 1 now")
          .hasMessageContaining("lifeline-jobs resume").hasMessageContaining("--accept-loss");
      writer.abandon();
    }
    assertThat(query(SERIALS)).as("what only this process had is stored").containsExactly("20 20 0 19");
    for (int start = 0; start < 2; start++) { // although the source may have grown past the archive's end
      try (ArchiveWriter writer = archive.open(rejections::add)) {
        assertThatThrownBy(() -> writer.nextOffset(0)).isInstanceOf(ArchiveException.class)
            .hasMessageContaining("but the source ends at offset 1 now");
        assertThat(writer.nextOffset(1)).isZero();
      }
    }
    assertThat(archive.resume(false)).singleElement().asString().startsWith("partition 0: it has read up to offset 2");
    assertThat(archive.resume(false)).isEmpty();
    try (ArchiveWriter writer = archive.open(rejections::add)) {
      assertThat(writer.comparableOffset(0)).isEqualTo(1);
      assertThatThrownBy(() -> writer.append(Archives.at(1), Archives.serials(EMITTER, 3, 10)))
          .hasMessageContaining("the message before it has been replaced");
    }
    assertThat(archive.resume(true)).hasSize(1);
    try (ArchiveWriter writer = archive.open(rejections::add)) {
      assertThat(writer.comparableOffset(0)).isEqualTo(2);
      assertThatThrownBy(() -> writer.checkEnd(0, 1)).isInstanceOf(ArchiveUnavailableException.class);
      writer.append(Archives.at(2), Archives.serials(EMITTER, 4, 10));
    }
    try (ArchiveWriter writer = archive.open(rejections::add)) {
      assertThat(writer.comparableOffset(0)).as("compared again").isEqualTo(2);
      assertThatThrownBy(() -> writer.checkEnd(0, 2)).isInstanceOf(ArchiveException.class);
    }
    assertThat(rejections).isEmpty();
  }

  @Test
  void anArchiveThatGoesAwayAndComesBackIsNotTakenForAnEmptyOne() throws Exception {
    Archive archive = archive(defaultRoll());
    try (ArchiveWriter writer = archive.open(rejections::add)) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      writer.roll();
      writer.append(Archives.at(1), Archives.serials(EMITTER, 2, 10));
      moveTo("away");
      assertThatThrownBy(writer::roll).isInstanceOf(IOException.class).isNotInstanceOf(ArchiveCollisionException.class);
      writer.abandon();
    }
    assertThatThrownBy(() -> archive.open(rejections::add)).isInstanceOf(ArchiveUnavailableException.class)
        .hasMessageContaining("no archive is there").hasMessageContaining("restart the jobs");
    moveBackFrom("away");
    try (ArchiveWriter writer = archive.open(rejections::add)) {
      assertThat(writer.nextOffset(0)).isEqualTo(1);
      writer.append(Archives.at(1), Archives.serials(EMITTER, 2, 10));
    }
    assertThat(query(SERIALS)).containsExactly("20 20 0 19");
  }

  @Test
  void aRollIsNotStoredInAnotherArchiveAtTheSamePlace() throws Exception {
    Archive archive = archive(defaultRoll());
    ArchiveWriter writer = archive.open(rejections::add);
    writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
    writer.roll();
    writer.append(Archives.at(1), Archives.serials(EMITTER, 2, 10));
    moveTo("first");
    try (ArchiveWriter second = open()) { // another program that starts while the first archive is away
      assertThatThrownBy(writer::roll).isInstanceOf(ArchiveUnavailableException.class);
      writer.abandon();
      second.append(Archives.at(0), Archives.serials(EMITTER, 5, 10));
      second.roll();
      assertThatThrownBy(() -> archive.open(rejections::add)).isInstanceOf(ArchiveUnavailableException.class)
          .hasMessageContaining("the archive ").hasMessageContaining(" is there");
      assertThat(query(SERIALS)).containsExactly("10 10 40 49");
      second.append(Archives.at(1), Archives.serials(EMITTER, 6, 10));
      moveTo("second");
      moveBackFrom("first");
      assertThatThrownBy(second::roll).isInstanceOf(ArchiveUnavailableException.class);
      second.abandon();
    }
    assertThat(query(SERIALS)).containsExactly("10 10 0 9");
    try (ArchiveWriter again = archive.open(rejections::add)) {
      again.append(Archives.at(again.nextOffset(0)), Archives.serials(EMITTER, 2, 10));
    }
    assertThat(query(SERIALS)).containsExactly("20 20 0 19");
    moveTo("first");
    moveBackFrom("second");
    assertThat(query(SERIALS)).containsExactly("10 10 40 49");
  }
}
