package io.lifeline.jobs.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** The books as a table, with a line that sums them up. */
final class LedgerTable {

  private static final List<String> NAMES = List.of("host", "program", "pid", "incarnation", "route", "state");
  private static final List<String> NUMBERS =
      List.of("emitted", "received", "archived", "in_flight", "dropped", "expired", "missing", "duplicated");

  private LedgerTable() {}

  static void print(List<JsonNode> balances, PrintWriter out) {
    List<List<String>> rows = new ArrayList<>();
    List<String> titles = new ArrayList<>(NAMES);
    titles.addAll(NUMBERS);
    rows.add(titles);
    for (JsonNode balance : balances) {
      List<String> row = new ArrayList<>();
      titles.forEach(column -> row.add(cell(column, balance.path(column))));
      rows.add(row);
    }
    printAligned(rows, out);
    StringBuilder total = new StringBuilder("ledger:");
    for (String column : NUMBERS) {
      long sum = balances.stream().mapToLong(balance -> balance.path(column).asLong()).sum();
      boolean known = balances.stream().noneMatch(balance -> balance.path(column).isNull());
      total.append(' ').append(column).append('=').append(known ? Long.toString(sum) : "unknown");
    }
    out.println(total);
  }

  /** An incarnation is told from others by its first digits. */
  private static String cell(String column, JsonNode value) {
    String text = value.isNull() || value.isMissingNode() ? "-" : value.asText();
    return column.equals("incarnation") ? text.substring(0, Math.min(8, text.length())) : printable(text);
  }

  /** Names come from emitters, and must not drive the terminal. */
  private static String printable(String text) {
    return text.replaceAll("[\\p{Cntrl}\\x{80}-\\x{9F}]", "\uFFFD");
  }

  private static void printAligned(List<List<String>> rows, PrintWriter out) {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        boolean number = i >= NAMES.size();
        line.append(String.format("%" + (number ? "" : "-") + widths[i] + "s  ", row.get(i)));
      }
      out.println(line.toString().stripTrailing());
    }
  }
}
