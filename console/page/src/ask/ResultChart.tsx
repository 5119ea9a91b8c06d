// A result as a chart: its first column on the x axis, its other numeric columns as lines, or bars if the first is a name.
import { useEffect } from "preact/hooks";
import uPlot from "uplot";
import type { SqlResult } from "../api";
import { useSize } from "../hooks";
import type { Palette } from "../palette";
import { count, shown, value } from "../text";

const MOST_BARS = 40;

const numeric = (result: SqlResult, column: number) => result.rows.every((row) => row[column] === null || Number.isFinite(Number(row[column])));

/** The x value: a number, or the time of a timestamp in seconds. */
function abscissa(cell: unknown): number {
  return typeof cell === "number" ? cell : Date.parse(`${String(cell).slice(0, 23).replace(" ", "T")}Z`) / 1000;
}

export function ResultChart({ result, palette }: { result: SqlResult; palette: Palette }) {
  const columns = result.columns.map((_, i) => i).slice(1).filter((i) => numeric(result, i));
  const first = result.rows.map((row) => abscissa(row[0]));
  if (columns.length === 0 || result.rows.length === 0) {
    return <p>A chart needs a first column and at least one column of numbers.</p>;
  }
  return first.every((x) => Number.isFinite(x))
    ? <LineChart result={result} x={first} columns={columns} palette={palette} />
    : <Bars result={result} column={columns[0]!} palette={palette} />;
}

function LineChart({ result, x, columns, palette }: { result: SqlResult; x: number[]; columns: number[]; palette: Palette }) {
  const [frame, size] = useSize<HTMLDivElement>();
  useEffect(() => {
    if (!frame.current || size.width < 10) {
      return undefined;
    }
    const order = x.map((_, i) => i).sort((a, b) => x[a]! - x[b]!);
    const axis = { stroke: palette.text, grid: { stroke: palette.grid, width: 1 } };
    const plot = new uPlot({
      width: size.width, height: 300, axes: [axis, axis],
      scales: { x: { time: /timestamp|date/.test(result.columns[0]!.type) } },
      series: [{}, ...columns.map((column, i) => ({ label: shown(result.columns[column]!.name, 40), stroke: palette.series[i % palette.series.length]! }))],
    }, [order.map((i) => x[i]!), ...columns.map((column) => order.map((i) => (result.rows[i]![column] === null ? null : Number(result.rows[i]![column]))))] as uPlot.AlignedData, frame.current);
    return () => plot.destroy();
  }, [result, size.width, palette]);
  return <div ref={frame} class="plot" role="img" aria-label="chart of the result" />;
}

function Bars({ result, column, palette }: { result: SqlResult; column: number; palette: Palette }) {
  const rows = result.rows.slice(0, MOST_BARS);
  const most = Math.max(1e-9, ...rows.map((row) => Math.abs(Number(row[column]))));
  return (
    <table class="bars">
      <tbody>
        {rows.map((row) => (
          <tr>
            <th scope="row"><bdi>{value(row[0], 60)}</bdi></th>
            <td><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width={(100 * Math.abs(Number(row[column]))) / most} height="10" fill={palette.accent} /></svg></td>
            <td class="number">{count(Number(row[column]))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
