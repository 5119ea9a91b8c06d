package io.lifeline.jobs.core.filter;

import static io.lifeline.jobs.core.TestBatches.LOAD;
import static io.lifeline.jobs.core.TestBatches.READ;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.read;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConditionTest {

  private final BatchWriter batch =
      batch(1, 1)
          .event(READ, tick(1), 1L, 100L)
          .event(LOAD, tick(2), 0.5)
          .event(READ, tick(3), 2L, 3_000_000L)
          .event(LOAD, tick(4), 7.5);

  @Test
  void choosesEventsOfSeveralTypesEachByItsOwnFields() {
    assertThat(chosen("nbytes > 1000 || load > 1.0")).containsExactly(2, 3);
    assertThat(chosen("type == 'disk.read.end'")).containsExactly(0, 2);
    assertThat(chosen("type.startsWith('disk.') && id in [1, 7]")).containsExactly(0);
    assertThat(chosen("host == 'host-a' && !has(fields.load)")).containsExactly(0, 2);
  }

  @Test
  void anEventForWhichTheConditionCannotBeEvaluatedIsNotChosenAndCounted() {
    Filter filter = new Filter(Condition.parse("nbytes > 1000"));
    assertThat(choose(filter).stream()).containsExactly(2);
    assertThat(filter.undecided()).isEqualTo(2);
    assertThat(choose(new Filter(Condition.parse("!(nbytes > 1000)"))).stream()).containsExactly(0);
  }

  @Test
  void aConditionWithTooManyIterationsCannotBeEvaluated() {
    String nested = "id >= 0u";
    for (char variable = 'a'; variable < 'k'; variable++) {
      nested = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(" + variable + ", " + nested + ")";
    }
    Filter filter = new Filter(Condition.parse(nested));
    assertThat(choose(filter).stream()).isEmpty();
    assertThat(filter.undecided()).isEqualTo(4);
    assertThat(chosen("[1, 2].exists(n, uint(n) == id)")).containsExactly(0, 2);
  }

  @Test
  void aConditionThatMayNeedTooMuchForAnEventIsRefused() {
    for (String much : List.of("['xxxxxxxxxxxxxxxx']" + ".map(a, a + a)".repeat(60) + ".exists(a, a == 'y')",
        "[[1]]" + ".map(a, a + a)".repeat(60) + ".exists(a, a.size() == 7)",
        "[b'xxxxxxxxxxxxxxxx']" + ".map(a, a + a)".repeat(60) + ".exists(a, a == b'y')",
        "[1]" + ".map(a, [a, a, a, a, a, a, a, a])".repeat(35) + ".size() == 1",
        "[1]" + ".map(a, {'k': a, 'l': a})".repeat(40) + ".size() == 1",
        "[name]" + ".map(a, a + a)".repeat(12) + ".exists(a, a == 'y')",
        "fields.all(a, fields.all(b, name.matches('(.*)*(.*)*x')))")) {
      assertThatThrownBy(() -> Condition.parse(much)).as(much).isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching("one of its (values|loops).*|it may take more than .*");
    }
    for (String fair : List.of("fields.exists(k, fields[k] == 'x')", "fields.map(k, k + 'x').size() > 3",
        "['a', 'b'].map(a, a + host).exists(a, a == name)", "fields.filter(k, k.startsWith('a')).size() == 2",
        "fields.all(a, fields.all(b, a == b || fields[a] != fields[b]))", "(host + '/' + program).matches('a+/b.*')",
        "name.matches('^[a-z]{3}-[0-9]+(x|y|z)*$') && bytes(name).size() > 1000")) {
      assertThat(Condition.parse(fair).toString()).isEqualTo(fair);
    }
  }

  @Test
  void leavesToCelWhatItHasNoShortcutFor() {
    assertThat(chosen("nbytes % 2u == 0u && id < nbytes && host.matches('host-.')")).containsExactly(0, 2);
    assertThat(chosen("ts > timestamp('2023-11-14T22:13:22.5Z')")).containsExactly(2, 3);
  }

  @Test
  void whatDependsOnTheTypeAloneIsDecidedBeforeAnyEventIsSeen() {
    assertThat(Condition.parse("type == 'host.load'").on(READ, code -> {}).always()).isEqualTo(Judgement.NO);
    assertThat(Condition.parse("type == 'host.load' && load > 1.0").on(READ, code -> {}).always())
        .isEqualTo(Judgement.NO);
    assertThat(Condition.parse("nbytes < 0u").on(READ, code -> {}).always()).isEqualTo(Judgement.NO);
    assertThat(Condition.parse("missing == 1").on(READ, code -> {}).always()).isEqualTo(Judgement.NEITHER);
  }

  @Test
  void saysWhereAConditionIsWrong() {
    assertThatThrownBy(() -> Condition.parse("nbytes >"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("line 1, column ");
    assertThatThrownBy(() -> Condition.parse("host == 5"))
        .hasMessageContaining("found no matching overload for '_==_' applied to '(string, int)'");
    assertThatThrownBy(() -> Condition.parse("nowhere(1)")).hasMessageContaining("undeclared reference to 'nowhere'");
    assertThatThrownBy(() -> Condition.parse("1 + 1")).hasMessage("it yields int, not true or false");
  }

  private Integer[] chosen(String condition) {
    return choose(new Filter(Condition.parse(condition))).stream().boxed().toArray(Integer[]::new);
  }

  private BitSet choose(Filter filter) {
    BatchReader reader = read(batch);
    return filter.choose(reader);
  }
}
