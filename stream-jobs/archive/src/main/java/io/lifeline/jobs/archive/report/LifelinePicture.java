package io.lifeline.jobs.archive.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Draws lifelines as NetLogger's Figure 2 does (HPDC 2002): events on the Y axis, time on the X axis, one line per
 * block. Work is drawn in the colour of its stage, waiting as a thin grey line. The upper panel has blocks spread over
 * the whole run, the lower one adjacent blocks from its middle, at a scale that shows each step.
 */
final class LifelinePicture {
  private static final int WIDTH = 960;
  private static final int LEFT = 150;
  private static final int RIGHT = 24;
  private static final int ROW = 22;
  private static final int PANEL_TITLE = 34;
  private static final int PANEL_FOOT = 44;
  private static final int LEGEND = 34;
  private static final int SPREAD_BLOCKS = 48;
  private static final int NEIGHBOURS = 16;
  private static final int TICKS = 5;

  /** Plain classes rather than CSS variables, which some viewers do not support. */
  private static final String STYLE = """
      <style>
        .paper { fill: #ffffff; }
        text { font: 12px system-ui, sans-serif; fill: #1f2933; }
        text.faint { fill: #52606d; }
        text.title { font-weight: 600; font-size: 13px; }
        .grid { stroke: #e4e7eb; stroke-width: 1; }
        .wait { stroke: #9aa5b1; stroke-width: 0.8; fill: none; }
        .work { stroke-width: 2; stroke-linecap: round; fill: none; }
        .disk-read { stroke: #0967d2; }
        .network { stroke: #c05621; }
        .disk-write { stroke: #2f8132; }
        @media (prefers-color-scheme: dark) {
          .paper { fill: #16191d; }
          text { fill: #f5f7fa; }
          text.faint { fill: #cbd2d9; }
          .grid { stroke: #323f4b; }
          .wait { stroke: #7b8794; }
          .disk-read { stroke: #63b3ff; }
          .network { stroke: #ffa552; }
          .disk-write { stroke: #6fd36f; }
        }
      </style>
      """;

  private final StringBuilder svg = new StringBuilder();

  private LifelinePicture() {}

  /** Draws at least one lifeline; they are ordered by their first event. */
  static String draw(List<Lifeline> lifelines) {
    return new LifelinePicture().picture(lifelines);
  }

  private String picture(List<Lifeline> lifelines) {
    int panel = PANEL_TITLE + (Lifeline.EVENTS.size() - 1) * ROW + PANEL_FOOT;
    int height = LEGEND + 2 * panel;
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\""
        + " aria-label=\"Lifelines of blocks: events over time\">%n", WIDTH, height, WIDTH, height);
    svg.append(STYLE);
    add("<rect class=\"paper\" width=\"%d\" height=\"%d\"/>%n", WIDTH, height);
    legend();
    List<Lifeline> sample = spread(lifelines);
    panel(LEGEND, sample.size() + " of " + lifelines.size() + " blocks, spread over the run", sample);
    int from = Math.max(0, lifelines.size() / 2 - NEIGHBOURS / 2);
    List<Lifeline> neighbours = lifelines.subList(from, Math.min(lifelines.size(), from + NEIGHBOURS));
    panel(LEGEND + panel, neighbours.size() + " neighbouring blocks from its middle", neighbours);
    svg.append("</svg>\n");
    return svg.toString();
  }

  private void legend() {
    int x = LEFT;
    for (Stage stage : List.of(Stage.DISK_READ, Stage.NETWORK, Stage.DISK_WRITE)) {
      add("<line class=\"work %s\" x1=\"%d\" x2=\"%d\" y1=\"20\" y2=\"20\"/>", stage.label(), x, x + 26);
      add("<text x=\"%d\" y=\"24\">%s</text>%n", x + 32, stage.label());
      x += 130;
    }
    add("<line class=\"wait\" x1=\"%d\" x2=\"%d\" y1=\"20\" y2=\"20\"/><text x=\"%d\" y=\"24\">on its way, or waiting"
        + "</text>%n", x, x + 26, x + 32);
  }

  private static List<Lifeline> spread(List<Lifeline> lifelines) {
    int count = Math.min(SPREAD_BLOCKS, lifelines.size());
    List<Lifeline> sample = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sample.add(lifelines.get((int) ((long) i * (lifelines.size() - 1) / Math.max(1, count - 1))));
    }
    return sample;
  }

  private void panel(int top, String title, List<Lifeline> lifelines) {
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;
    for (Lifeline lifeline : lifelines) {
      for (long time : lifeline.times()) {
        first = Math.min(first, time);
        last = Math.max(last, time);
      }
    }
    double pixelsPerNs = (double) (WIDTH - LEFT - RIGHT) / Math.max(1, last - first);
    int bottom = top + PANEL_TITLE;
    add("<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>%n", LEFT, top + 20, title);
    // As in the paper, a block begins at the bottom and rises.
    for (int i = 0; i < Lifeline.EVENTS.size(); i++) {
      int y = rowY(bottom, i);
      add("<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>", LEFT, WIDTH - RIGHT, y, y);
      add("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>%n", LEFT - 10, y + 4, Lifeline.EVENTS.get(i));
    }
    axis(rowY(bottom, 0) + 22, last - first, pixelsPerNs);
    for (Lifeline lifeline : lifelines) {
      draw(lifeline, bottom, first, pixelsPerNs);
    }
  }

  private static int rowY(int bottom, int event) {
    return bottom + (Lifeline.EVENTS.size() - 1 - event) * ROW;
  }

  private void axis(int y, long spanNs, double pixelsPerNs) {
    double stepNs = roundStep(spanNs / (double) TICKS);
    boolean seconds = spanNs >= 2_000_000_000L;
    for (double at = 0; at <= spanNs; at += stepNs) {
      String label = seconds ? number(at / 1e9) + " s" : number(at / 1e6) + " ms";
      add("<text class=\"faint\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>%n", LEFT + at * pixelsPerNs, y,
          label);
    }
  }

  /** Returns 1, 2 or 5 times a power of ten, not below the step. */
  private static double roundStep(double step) {
    double power = Math.pow(10, Math.floor(Math.log10(Math.max(1, step))));
    for (int factor : new int[] {1, 2, 5}) {
      if (factor * power >= step) {
        return factor * power;
      }
    }
    return 10 * power;
  }

  private static String number(double value) {
    String text = String.format(Locale.ROOT, "%.3f", value);
    return text.replaceAll("\\.?0+$", "");
  }

  private void draw(Lifeline lifeline, int bottom, long first, double pixelsPerNs) {
    StringBuilder whole = new StringBuilder();
    for (int i = 0; i < lifeline.times().length; i++) {
      whole.append(point(lifeline, i, bottom, first, pixelsPerNs)).append(' ');
    }
    add("<polyline class=\"wait\" points=\"%s\"/>", whole.toString().trim());
    for (int operation = 0; operation < Lifeline.WAY.size(); operation++) {
      add("<polyline class=\"work %s\" points=\"%s %s\"/>", Stage.of(Lifeline.WAY.get(operation)).label(),
          point(lifeline, 2 * operation, bottom, first, pixelsPerNs),
          point(lifeline, 2 * operation + 1, bottom, first, pixelsPerNs));
    }
    svg.append('\n');
  }

  private static String point(Lifeline lifeline, int event, int bottom, long first, double pixelsPerNs) {
    double x = LEFT + (lifeline.times()[event] - first) * pixelsPerNs;
    return String.format(Locale.ROOT, "%.1f,%d", x, rowY(bottom, event));
  }

  private void add(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values));
  }
}
