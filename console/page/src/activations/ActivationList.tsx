// What is switched on, who follows, and for how long; switch on, extend, end.
import { useEffect, useState } from "preact/hooks";
import { type Activation, get, type Member, post, remove } from "../api";
import { useAnswer, useTick } from "../hooks";
import { Progress } from "../Progress";
import { count, shown } from "../text";
import { timeLeft } from "./lines";
import { SwitchOn } from "./SwitchOn";

const FIVE_MINUTES = 300;

export function ActivationList({ allowed }: { allowed: boolean }) {
  const [changes, setChanges] = useState(0);
  const [problem, setProblem] = useState<string | null>(null);
  const tick = useTick(2000);
  const answer = useAnswer<{ rows: Activation[]; at: number }>(String(changes),
    async (signal) => ({ ...(await get<{ rows: Activation[] }>("/activations", {}, signal)), at: Date.now() }), 0, tick);
  const { data } = answer;
  const change = async (work: () => Promise<unknown>) => {
    setProblem(null);
    try {
      await work();
    } catch (failed) {
      setProblem((failed as Error).message);
    }
    setChanges((before) => before + 1);
  };
  return (
    <section class="panel" aria-label="Activations">
      <header><h2>Activations</h2></header>
      <Progress of={answer} />
      {problem && <p class="error" role="alert">{problem}</p>}
      {data && data.rows.length === 0 && <p>Nothing is switched on or off: programs emit what they do by themselves.</p>}
      {data && data.rows.length > 0 && (
        <div class="scroll">
          <table>
            <thead><tr><th>activation</th><th>id</th><th>time left</th><th>emitters</th><th></th></tr></thead>
            <tbody>
              {data.rows.map((row) => (
                <tr key={row.id}>
                  <td><bdi>{shown(row.line, 200)}</bdi></td>
                  <td><bdi>{shown(row.id, 64)}</bdi>{row.by && <><br /><span class="hint">by <bdi>{shown(row.by, 200)}</bdi></span></>}</td>
                  <td><Left row={row} at={data.at} /></td>
                  <td><Followers row={row} /></td>
                  <td>{allowed && (
                    <>
                      {row.state === "running" && <button onClick={() => change(() => post(`/activations/${encodeURIComponent(row.id)}/extend`, { seconds: FIVE_MINUTES, line: row.line }))}>5 min from now</button>}{" "}
                      <button onClick={() => change(() => remove(`/activations/${encodeURIComponent(row.id)}`, { line: row.line }))}>End</button>
                    </>
                  )}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {allowed && <NewActivation onDone={() => setChanges((before) => before + 1)} />}
    </section>
  );
}

function Left({ row, at }: { row: Activation; at: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1000);
    return () => window.clearInterval(timer);
  }, []);
  if (row.state !== "running") {
    return <>{row.state}{row.why ? `: ${shown(row.why, 200)}` : ""}</>;
  }
  return <>{row.remainingMs === null ? "from when it is seen" : timeLeft(row.remainingMs - Math.max(0, now - at))}</>;
}

function Followers({ row }: { row: Activation }) {
  const names = (members: Member[]) => members.map((one) => `${one.program} ${one.pid} on ${one.host}${one.reason ? `: ${one.reason}` : ""}`).join("\n");
  return (
    <>
      {count(row.following)} follow
      {row.refusing > 0 && <span class="bad" title={shown(names(row.refusals), 2000)}>, <strong>{count(row.refusing)} refuse</strong></span>}
      {row.silent > 0 && <span title={shown(names(row.unanswered), 2000)}>, {count(row.silent)} have not answered</span>}
    </>
  );
}

function NewActivation({ onDone }: { onDone(): void }) {
  const [text, setText] = useState("");
  const [minutes, setMinutes] = useState(5);
  const [line, setLine] = useState("");
  return (
    <form onSubmit={(event) => { event.preventDefault(); setLine(text.trim()); }}>
      <p>
        <label>Events <input size={32} value={text} onInput={(event) => { setText(event.currentTarget.value); setLine(""); }} placeholder="disk.* full program=remote-copy" /></label>{" "}
        <label>for <input type="number" min={1} max={1440} value={minutes} onInput={(event) => setMinutes(Number(event.currentTarget.value) || 1)} /> minutes</label>{" "}
        {line === "" && <button disabled={text.trim() === ""}>What would it bring?</button>}
      </p>
      {line !== "" && <SwitchOn line={line} seconds={Math.min(1440, Math.max(1, Math.round(minutes))) * 60} label="Switch on"
        onDone={() => { setText(""); setLine(""); onDone(); }} />}
    </form>
  );
}
