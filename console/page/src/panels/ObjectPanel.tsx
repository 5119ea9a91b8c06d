// One object: its events, the time between them, their fields.
import { get, type ObjectEvents } from "../api";
import { useAnswer } from "../hooks";
import { Progress } from "../Progress";
import { shown, value } from "../text";
import { absolute, duration } from "../time";

export function ObjectPanel({ object, onClose }: { object: number; onClose(): void }) {
  const answer = useAnswer<ObjectEvents>(String(object), (signal) => get(`/objects/${object}`, {}, signal), 0);
  const { data } = answer;
  const slowest = data ? Math.max(...data.events.map((event) => event.sincePrevious)) : 0;
  const whole = data ? Math.max(1, data.events[data.events.length - 1]?.sinceFirst ?? 1) : 1;
  return (
    <section class="panel" aria-label="Selected object">
      <header>
        <h2>Object <bdi>{data ? shown(data.id, 60) : ""}</bdi></h2>
        <button class="plain" onClick={onClose} aria-label="Close the selected object">×</button>
      </header>
      <Progress of={answer} />
      {data && (
        <>
          <p>{data.events.length} events in {duration(whole)}, from {absolute(BigInt(data.events[0]?.t ?? "0"))}</p>
          <div class="scroll">
            <table>
              <thead><tr><th>event</th><th class="number">after the one before</th><th>share</th></tr></thead>
              <tbody>
                {data.events.map((event) => (
                  <tr class={`event ${event.sincePrevious === slowest && slowest > 0 ? "slowest" : ""}`}>
                    <td>
                      <bdi>{shown(event.name, 60)}</bdi>
                      <div class="fields"><bdi>{shown(event.program, 40)}</bdi> on <bdi>{shown(event.host, 40)}</bdi>{"; "}
                        {event.fields === null ? "fields: not in the archive yet" : Object.entries(event.fields)
                          .filter(([name]) => name !== "id").map(([name, field]) => `${shown(name, 40)}=${value(field, 60)}`).join(" ")}</div>
                    </td>
                    <td class="number">{duration(event.sincePrevious)}</td>
                    <td><meter min={0} max={1} value={event.sincePrevious / whole} aria-label="share of the whole time" /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}
