// SQL on the archive.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, runSql, type Schema, type SqlResult, sqlAsCsv } from "../api";
import { type Loaded, useAnswer } from "../hooks";
import { download } from "../lifelines/Chart";
import type { Palette } from "../palette";
import { Progress } from "../Progress";
import { patiently } from "../retry";
import { count, shown, value } from "../text";
import { complete, type Completions } from "./complete";
import { past, remember } from "./history";
import { ResultChart } from "./ResultChart";

const MOST_ROWS = 500;
const EXAMPLE = "SELECT type, count(*) AS events FROM events GROUP BY type ORDER BY events DESC";

export function Ask({ sql, palette, onSql }: { sql: string; palette: Palette; onSql(sql: string): void }) {
  const [text, setText] = useState(sql || EXAMPLE);
  const [answer, setAnswer] = useState<Pick<Loaded<SqlResult>, "data" | "error" | "waiting"> & { running: boolean }>({ data: null, error: null, waiting: null, running: false });
  const [completions, setCompletions] = useState<Completions | null>(null);
  const [chosen, setChosen] = useState(0);
  const [chart, setChart] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const abort = useRef<AbortController | null>(null);
  const schema = useAnswer<Schema>("schema", (signal) => get("/sql/schema", {}, signal));

  // What is in the editor now: the state follows it only with the next drawing, which a fast typist outruns.
  const typed = () => area.current?.value ?? text;
  const run = async () => {
    const query = typed();
    abort.current?.abort();
    const mine = new AbortController();
    abort.current = mine;
    onSql(query);
    remember(query);
    setAnswer((before) => ({ ...before, running: true, error: null }));
    try {
      const data = await patiently((signal) => runSql(query, MOST_ROWS, signal), mine.signal, (waiting) => setAnswer((before) => ({ ...before, waiting })));
      setAnswer({ data, error: null, waiting: null, running: false });
    } catch (error) {
      if (!mine.signal.aborted) {
        setAnswer({ data: null, error: (error as Error).message, waiting: null, running: false });
      }
    }
  };

  useEffect(() => {
    if (sql) {
      void run(); // a link shows its result
    }
    return () => abort.current?.abort();
  }, []);

  const insert = (word: string) => {
    const element = area.current;
    if (!element || !completions) {
      return;
    }
    element.setRangeText(word, completions.start, element.selectionStart, "end");
    element.focus();
    setText(element.value);
    setCompletions(null);
  };

  const keyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void run();
    } else if (event.key === " " && event.ctrlKey && schema.data && area.current) {
      event.preventDefault();
      setCompletions(complete(schema.data, typed(), area.current.selectionStart));
      setChosen(0);
    } else if (completions) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        event.preventDefault();
        setChosen((chosen + step + completions.words.length) % Math.max(1, completions.words.length));
      } else if (event.key === "Enter" || event.key === "Tab") {
        event.preventDefault();
        insert(completions.words[chosen] ?? "");
      } else if (event.key === "Escape") {
        event.stopPropagation();
        setCompletions(null);
      } else if (event.key.length === 1 || event.key === "Backspace") {
        setCompletions(null);
      }
    }
  };

  const result = answer.data;
  return (
    <div class="ask">
      <section class="panel" aria-label="Query">
        <label for="sql">SQL on the archive <span class="hint">Ctrl+Enter runs, Ctrl+Space completes</span></label>
        <div class="editor">
          <textarea id="sql" ref={area} rows={6} spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} onKeyDown={keyDown} />
          {completions && (
            <ul class="completions" role="listbox" aria-label="Completions">
              {completions.words.length === 0 && <li>no name begins like this</li>}
              {completions.words.map((word, i) => (
                <li role="option" aria-selected={i === chosen} onMouseDown={(event) => { event.preventDefault(); insert(word); }}><bdi>{shown(word, 80)}</bdi></li>
              ))}
            </ul>
          )}
        </div>
        <div class="row">
          <button class="main" onClick={() => void run()} disabled={answer.running}>{answer.running ? "Running…" : "Run"}</button>
          {past().length > 0 && (
            <label>History <select value="" onChange={(event) => setText(event.currentTarget.value)}>
              <option value="">choose a query</option>
              {past().map((one) => <option value={one}>{shown(one.replace(/\s+/g, " "), 70)}</option>)}
            </select></label>
          )}
          {result && <button onClick={() => void sqlAsCsv(typed()).then((csv) => download(csv, "lifeline.csv"))}>CSV</button>}
          {result && <label><input type="checkbox" checked={chart} onChange={(event) => setChart(event.currentTarget.checked)} /> as chart</label>}
        </div>
        {answer.error ? <pre class="error" role="alert">{shown(answer.error, 2000)}</pre> : <Progress of={{ ...answer, loading: answer.running }} />}
        {schema.error && <p class="error">{schema.error}</p>}
      </section>
      {result && (
        <section class="panel" aria-label="Result">
          <p aria-live="polite">{count(result.rows.length)} rows{result.truncated ? " and more: the CSV has up to 10,000" : ""} in {count(result.ms)} ms</p>
          {chart ? <ResultChart result={result} palette={palette} /> : <ResultTable result={result} />}
        </section>
      )}
    </div>
  );
}

function ResultTable({ result }: { result: SqlResult }) {
  return (
    <div class="scroll">
      <table>
        <thead><tr>{result.columns.map((column) => <th title={column.type}><bdi>{shown(column.name, 60)}</bdi></th>)}</tr></thead>
        <tbody>
          {result.rows.map((row) => (
            <tr>{row.map((cell) => <td class={typeof cell === "number" ? "number" : ""}>{cell === null ? <span class="hint">null</span> : <bdi>{value(cell)}</bdi>}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
