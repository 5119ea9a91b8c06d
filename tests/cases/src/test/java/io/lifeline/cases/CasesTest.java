package io.lifeline.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class CasesTest {

  private static List<Object> inputs() {
    List<Object> inputs = new ArrayList<>();
    Cases.each(1000, any -> inputs.add(List.of(any.number(), any.real(), any.text(9), any.list(0, 9, any::flag))));
    return inputs;
  }

  @Test
  void inputsAreTheSameInEveryRunAndDifferFromCaseToCase() {
    assertThat(inputs()).isEqualTo(inputs()).hasSize(1000).doesNotHaveDuplicates();
  }

  @Test
  void aFailureNamesItsCaseAndItsValues() {
    assertThatThrownBy(() -> Cases.each(1000, any -> {
      List<Integer> list = any.list(1, 3, () -> any.between(7, 7));
      assertThat(any.of(list.get(0))).isLessThan(7);
    })).isInstanceOf(AssertionError.class)
        .hasMessageContaining("to be less than:")
        .hasMessageEndingWith("in case 0 (-Dlifeline.case=0 runs it alone), whose values are [[7], 7]")
        .hasCauseInstanceOf(AssertionError.class);
    assertThatThrownBy(() -> Cases.each(1000, any -> assertThat(any.bytes(90)).hasSizeLessThan(10)))
        .as("small ones come first").hasMessageMatching("(?s).*in case \\d\\d? .* are \\[\\[(-?\\d+, ){9,12}-?\\d+]]");
  }

  @Test
  void theEndsOfARangeAndWhatIsUnusualAreAmongTheInputs() {
    Set<Object> numbers = new HashSet<>();
    Set<Object> reals = new HashSet<>();
    Set<Object> shares = new TreeSet<>();
    Set<Integer> small = new TreeSet<>();
    Set<Integer> sizes = new TreeSet<>();
    Cases.each(1000, any -> {
      numbers.add(any.number());
      reals.add(any.real());
      shares.add(any.between(0.0, 1.0));
      small.add(any.between(-3, 3));
      sizes.add(any.list(2, 50, any::flag).size());
      assertThat(any.between(5, Long.MAX_VALUE)).isGreaterThanOrEqualTo(5);
    });
    assertThat(numbers).contains(Long.MIN_VALUE, -1L, 0L, 1L, 2L, Long.MAX_VALUE).hasSizeGreaterThan(500);
    assertThat(reals).contains(-0.0, Double.NaN, Double.NEGATIVE_INFINITY, Double.MAX_VALUE).hasSizeGreaterThan(500);
    assertThat(shares).contains(0.0, 1.0).hasSizeGreaterThan(500);
    assertThat(small).containsExactly(-3, -2, -1, 0, 1, 2, 3);
    assertThat(sizes).contains(2, 3, 49, 50).allMatch(size -> size >= 2 && size <= 50);
  }
}
