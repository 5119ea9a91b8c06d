package io.lifeline.codec;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TypeInternerTest {

  private final TypeInterner interner = new TypeInterner();

  private EventType intern(EventType type) {
    return interner.intern(type, false);
  }

  /** Returns a type with about 60 KB of descriptor. */
  private static EventType large(int number) {
    return EventType.named("large." + number).constant("text", FieldType.STRING, "", "x".repeat(60_000)).build();
  }

  @Test
  void equalTypesAreOneInstance() {
    EventType first = EventType.named("disk.read").field("bytes", FieldType.U64).build();
    EventType second = EventType.named("disk.read").field("bytes", FieldType.U64).build();
    assertThat(intern(second)).isSameAs(intern(first)).isSameAs(interner.intern(second, true));
  }

  @Test
  void typesWithoutEndFillNoMemory() {
    for (int i = 0; i < 2 * TypeInterner.MAX_TYPES; i++) {
      intern(EventType.named("type." + i).build());
      assertThat(interner.size()).isLessThanOrEqualTo(TypeInterner.MAX_TYPES);
    }
  }

  @Test
  void largeTypesFillNoMemoryEither() {
    int most = TypeInterner.MAX_BYTES / 60_000;
    for (int i = 0; i < 2 * most; i++) {
      intern(large(i));
      assertThat(interner.size()).isBetween(1, most);
    }
  }
}
