package io.lifeline.console.index;

/** Numbers from 0, each in a set of its own at first, and sets that are joined. */
final class DisjointSets {
  private final int[] parents;

  DisjointSets(int size) {
    parents = new int[size];
    for (int i = 0; i < size; i++) {
      parents[i] = i;
    }
  }

  /** Returns the number that stands for the set. */
  int of(int number) {
    int root = number;
    while (parents[root] != root) {
      parents[root] = parents[parents[root]];
      root = parents[root];
    }
    return root;
  }

  void join(int one, int other) {
    parents[of(other)] = of(one);
  }
}
