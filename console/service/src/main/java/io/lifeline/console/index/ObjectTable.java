package io.lifeline.console.index;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.objects.Object2IntOpenHashMap;
import java.util.Arrays;

/**
 * The objects whose lifelines are drawn, by number. An object is what has one id from its first stage to its last; when
 * an id passes the first stage again, that is another object. Numbers of forgotten objects are used again.
 */
final class ObjectTable {
  static final int NONE = -1;

  /** Ids come from outside: neither one nor all together may fill the memory. */
  private static final int LONGEST_ID = 1000;
  private static final long MOST_CHARACTERS = 1L << 27;

  private final Long2IntOpenHashMap byNumber = new Long2IntOpenHashMap();
  private final Object2IntOpenHashMap<String> byText = new Object2IntOpenHashMap<>();
  private final IntArrayList free = new IntArrayList();

  private long[] idNumber = new long[1024];
  /** Null for ids that are numbers, which need no object on the heap. */
  private String[] idText = new String[1024];
  private long[] firstTime = new long[1024];
  private int[] firstType = new int[1024];
  private int[] last = new int[1024];
  private int[] events = new int[1024];
  /** The object that had the same id before. */
  private int[] former = new int[1024];
  private int end;
  private long characters;

  ObjectTable() {
    byNumber.defaultReturnValue(NONE);
    byText.defaultReturnValue(NONE);
  }

  /** All numbers in use are below. */
  int end() {
    return end;
  }

  int size() {
    return end - free.size();
  }

  /** Returns the newest object with the id, or {@link #NONE}. */
  int find(String id) {
    long number = canonical(id);
    return number >= 0 ? byNumber.get(number) : byText.getInt(id);
  }

  /** Returns whether there is room for an object with that id. */
  boolean hasRoom(String id) {
    return id.length() <= LONGEST_ID && characters + id.length() <= MOST_CHARACTERS;
  }

  int create(String id, long time, int type) {
    int object = free.isEmpty() ? end++ : free.popInt();
    if (object == last.length) {
      grow();
    }
    long number = canonical(id);
    idNumber[object] = number;
    idText[object] = number >= 0 ? null : id;
    characters += number >= 0 ? 0 : id.length();
    firstTime[object] = time;
    firstType[object] = type;
    last[object] = EventColumns.NONE;
    events[object] = 0;
    former[object] = number >= 0 ? byNumber.put(number, object) : byText.put(id, object);
    return object;
  }

  /** Forgets an object all of whose events are gone. */
  void forget(int object) {
    String text = idText[object];
    if (text == null) {
      byNumber.remove(idNumber[object], object);
    } else {
      byText.remove(text, object);
      characters -= text.length();
    }
    idText[object] = null;
    last[object] = EventColumns.NONE;
    events[object] = 0;
    free.add(object);
  }

  /** Returns whether a number is that of an object; numbers also come from links to the page. */
  boolean exists(int object) {
    return object >= 0 && object < end && events[object] > 0;
  }

  String id(int object) {
    String text = idText[object];
    return text == null ? Long.toString(idNumber[object]) : text;
  }

  long firstTime(int object) {
    return firstTime[object];
  }

  int firstType(int object) {
    return firstType[object];
  }

  int last(int object) {
    return last[object];
  }

  /** Returns how many events it ever had. */
  int events(int object) {
    return events[object];
  }

  /** Returns the object that had the same id before, if it is still known. */
  int former(int object) {
    int before = former[object];
    return before != NONE && exists(before) && id(before).equals(id(object)) ? before : NONE;
  }

  void setFirst(int object, long time, int type) {
    firstTime[object] = time;
    firstType[object] = type;
  }

  void setLast(int object, int event) {
    last[object] = event;
  }

  void count(int object) {
    events[object]++;
  }

  private void grow() {
    int size = last.length * 2;
    idNumber = Arrays.copyOf(idNumber, size);
    idText = Arrays.copyOf(idText, size);
    firstTime = Arrays.copyOf(firstTime, size);
    firstType = Arrays.copyOf(firstType, size);
    last = Arrays.copyOf(last, size);
    events = Arrays.copyOf(events, size);
    former = Arrays.copyOf(former, size);
  }

  /** Returns the number that the text is, as it would be printed; -1 for any other text. */
  private static long canonical(String id) {
    int length = id.length();
    if (length == 0 || length > 18 || id.charAt(0) == '0' && length > 1) {
      return -1;
    }
    long number = 0;
    for (int i = 0; i < length; i++) {
      int digit = id.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = 10 * number + digit;
    }
    return number;
  }
}
