// A button that switches events on; what they would cost is said before, and asked about if it is much.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Activation, type Cost, get, post, Problem } from "../api";
import { useAnswer } from "../hooks";
import { Progress } from "../Progress";
import { shown } from "../text";

export function SwitchOn({ line, seconds, label, onDone }: { line: string; seconds: number; label: string; onDone?(): void }) {
  const cost = useAnswer<Cost>(line, (signal) => get("/estimate", { line }, signal), 300);
  const [asked, setAsked] = useState<{ line: string; cost: Cost } | null>(null);
  const [done, setDone] = useState<Activation | null>(null);
  const [error, setError] = useState<string | null>(null);
  const busy = useRef(false);
  const switchOn = async (confirmed: boolean) => {
    if (busy.current) {
      return; // a double click is not meant twice
    }
    busy.current = true;
    setError(null);
    try {
      setDone(await post<Activation>("/activations", { line, seconds, confirmed }));
      setAsked(null);
      onDone?.();
    } catch (problem) {
      const expected = problem instanceof Problem ? problem.body.cost : undefined;
      if (expected) {
        setAsked({ line, cost: expected });
      } else {
        setError((problem as Error).message);
      }
    }
    busy.current = false;
  };
  const confirming = asked?.line === line ? asked : null;
  // Enter that is held down must not confirm what nobody has read.
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => cancel.current?.focus(), [confirming]);
  return (
    <div class="switch">
      {confirming ? (
        <p role="alert" key="confirm">
          {shown(confirming.cost.text, 300)}. <button class="main" onClick={() => switchOn(true)}>Switch on</button>{" "}
          <button ref={cancel} onClick={() => setAsked(null)}>Cancel</button>
        </p>
      ) : (
        <p key="ask">
          <button onClick={() => switchOn(false)}>{label}</button>{" "}
          <span class="hint">{cost.data ? shown(cost.data.text, 300) : ""}</span>
        </p>
      )}
      {done && <p role="status">Switched on: <bdi>{shown(done.line, 200)}</bdi></p>}
      {error ? <p class="error" role="alert">{error}</p> : <Progress of={cost} />}
    </div>
  );
}
