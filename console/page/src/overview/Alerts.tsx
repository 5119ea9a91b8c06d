// What jobs have raised, with the measurements that they decided on. All texts come from the broker, where anybody may have published them.
import { useState } from "preact/hooks";
import { type Alert, type Alerts as Answer, get } from "../api";
import { useAnswer, useTick } from "../hooks";
import { Progress } from "../Progress";
import { count, shown, short, value } from "../text";

const MOST_MEMBERS = 50;

export function Alerts() {
  const [all, setAll] = useState(false);
  const tick = useTick(2000);
  const answer = useAnswer<Answer>(String(all), (signal) => get("/alerts", { all: String(all) }, signal), 30, tick);
  const { data } = answer;
  return (
    <section class="panel wide" aria-label="Alerts">
      <header><h2>Alerts</h2></header>
      <Progress of={answer} />
      {data && (
        <>
          <p class={data.active > 0 ? "bad" : ""}>
            <strong>{data.active === 0 ? "No alert is active" : data.active === 1 ? "1 alert is active" : `${count(data.active)} alerts are active`}</strong>
            {data.unreadable > 0 && `; ${count(data.unreadable)} messages among the alerts cannot be read`}
          </p>
          {data.cleared > 0 && <label><input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} /> also {count(data.cleared)} cleared</label>}
          {data.rows.length > 0 && (
            <div class="scroll">
              <table class="alerts">
                <thead><tr><th>state</th><th>alert</th><th>group</th><th>subject</th><th>reason</th><th>since</th><th>evidence</th></tr></thead>
                <tbody>{data.rows.map((alert) => <Row alert={alert} />)}</tbody>
              </table>
            </div>
          )}
        </>
      )}
    </section>
  );
}

function Row({ alert }: { alert: Alert }) {
  const active = alert.state === "on";
  return (
    <tr>
      <td class={active ? "bad" : ""}>{active ? <strong>active</strong> : alert.state === "off" ? "cleared" : <bdi>{value(alert.state, 20)}</bdi>}</td>
      {[alert.alert, alert.group, alert.subject, alert.reason].map((text) => <td><bdi>{value(text, 80)}</bdi></td>)}
      <td><bdi>{value(alert.since, 30)}</bdi></td>
      <td><Evidence members={alert.evidence} /></td>
    </tr>
  );
}

/** Lists of records as small tables, everything else as name and value. */
function Evidence({ members }: { members: Record<string, unknown> }) {
  const entries = Object.entries(members).filter(([, any]) => any !== null && !(Array.isArray(any) && any.length === 0)).slice(0, MOST_MEMBERS);
  return (
    <>
      {entries.filter(([, any]) => !isRecords(any)).map(([name, any]) => <div><span class="hint"><bdi>{label(name)}</bdi></span> <bdi>{text(any)}</bdi></div>)}
      {entries.filter(([, any]) => isRecords(any)).map(([name, any]) => <Records name={name} records={any as Record<string, unknown>[]} />)}
    </>
  );
}

function Records({ name, records }: { name: string; records: Record<string, unknown>[] }) {
  const columns = [...new Set(records.slice(0, MOST_MEMBERS).flatMap(Object.keys))].slice(0, 8);
  return (
    <table aria-label={label(name)}>
      <thead><tr>{columns.map((column) => <th><bdi>{label(column)}</bdi></th>)}</tr></thead>
      <tbody>
        {records.slice(0, MOST_MEMBERS).map((record) => (
          <tr>{columns.map((column) => <td class={typeof record[column] === "number" ? "number" : ""}><bdi>{text(record[column])}</bdi></td>)}</tr>
        ))}
      </tbody>
    </table>
  );
}

const isRecords = (any: unknown) => Array.isArray(any) && any.length > 0 && any.every((one) => typeof one === "object" && one !== null && !Array.isArray(one));
const label = (name: string) => shown(name.replaceAll("_", " "), 40);
const text = (any: unknown) => (typeof any === "number" ? short(any) : Array.isArray(any) ? any.slice(0, MOST_MEMBERS).map((one) => value(one, 60)).join(", ") : value(any, 200));
