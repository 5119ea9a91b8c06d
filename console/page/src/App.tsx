// The page: state of the console above, then the view that the tab selects.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get, type Status, type Types } from "./api";
import { Ask } from "./ask/Ask";
import { useAnswer } from "./hooks";
import { decode, encode, type Link, type Tab } from "./link";
import { follow } from "./live";
import { DARK, LIGHT } from "./palette";
import { Overview } from "./overview/Overview";
import { Sessions } from "./sessions/Sessions";
import { SignIn, User } from "./SignIn";
import { count, shown } from "./text";
import { Trace } from "./Trace";

const TABS: [Tab, string][] = [["lifelines", "Lifelines"], ["sessions", "Sessions"], ["overview", "Overview"], ["ask", "Ask"]];
const THEME = "lifeline.theme";

function preferredTheme(): "dark" | "light" {
  const stored = readTheme();
  return stored ?? (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function readTheme(): "dark" | "light" | null {
  try {
    const stored = localStorage.getItem(THEME);
    return stored === "dark" || stored === "light" ? stored : null;
  } catch {
    return null;
  }
}

export function App() {
  const [link, setLink] = useState<Link>(() => decode(location.hash));
  const [status, setStatus] = useState<Status | null>(null);
  const [lost, setLost] = useState(false);
  const [signedOut, setSignedOut] = useState<string | null>(null);
  const [theme, setTheme] = useState(preferredTheme);

  const leave = (why: string) => {
    setStatus(null); // what is shown is not for the next one at this screen
    setLost(false);
    setSignedOut(why);
  };
  useEffect(() => signedOut !== null ? undefined : follow((now) => {
    setLost(now === null);
    if (now) {
      setStatus(now);
    }
  }, leave), [signedOut === null]);

  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(THEME, theme);
    } catch {
      // it then lasts as long as the page
    }
  }, [theme]);

  // The address follows the view, but not each pixel of a drag: browsers limit how often it may change.
  useEffect(() => {
    const timer = window.setTimeout(() => history.replaceState(null, "", `#${encode(link)}`), 200);
    return () => window.clearTimeout(timer);
  }, [link]);
  useEffect(() => {
    const changed = () => setLink(decode(location.hash));
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);

  const change = (part: Partial<Link>) => setLink((before) => ({ ...before, ...part }));
  const index = status?.index;
  const version = index ? `${index.events}-${index.skipped}` : null;
  const types = useAnswer<Types>(version === null ? null : "types", (signal) => get("/types", {}, signal), 0, version);
  const palette = useMemo(() => (theme === "dark" ? DARK : LIGHT), [theme]);

  return (
    <>
      <header class="top">
        <h1>Lifeline</h1>
        {signedOut === null && <nav role="tablist" aria-label="Views">
          {TABS.map(([tab, name]) => (
            <button role="tab" id={`tab-${tab}`} aria-selected={link.tab === tab} aria-controls="view" tabIndex={link.tab === tab ? 0 : -1}
              onClick={() => change({ tab })}
              onKeyDown={(event) => {
                const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
                if (step) {
                  event.stopPropagation();
                  const next = TABS[(TABS.findIndex(([one]) => one === tab) + step + TABS.length) % TABS.length]![0];
                  change({ tab: next });
                  document.getElementById(`tab-${next}`)?.focus();
                }
              }}>{name}</button>
          ))}
        </nav>}
        <p class="state" role="status">
          {signedOut !== null ? "signed out" : status ? `${count(status.index.events)} events of ${count(status.index.objects)} objects` : "connecting…"}
          {index?.loading && `, ${Math.round(index.done * 100)} % read`}
          {index !== undefined && index.skipped > 0 && `; ${count(index.skipped)} older events are not shown`}
        </p>
        {status && <User user={status.user} left={() => leave("You signed out.")} />}
        <button class="plain" onClick={() => setTheme(theme === "dark" ? "light" : "dark")} aria-label={theme === "dark" ? "Light colours" : "Dark colours"}>{theme === "dark" ? "☀" : "☾"}</button>
      </header>
      <Banners status={status} lost={lost} />
      {signedOut !== null ? <SignIn why={signedOut} done={() => setSignedOut(null)} /> : <main><div id="view" role="tabpanel" aria-labelledby={`tab-${link.tab}`}>
        {status && link.tab === "lifelines" && <Trace status={status} types={types.data} link={link} palette={palette} change={change} />}
        {status && link.tab === "sessions" && <Sessions status={status} version={version ?? ""} link={link} palette={palette} change={change} />}
        {status && link.tab === "overview" && <Overview status={status} version={version ?? ""} types={types.data} link={link} palette={palette} change={change} />}
        {link.tab === "ask" && <Ask sql={link.sql} palette={palette} onSql={(sql) => change({ sql })} />}
      </div></main>}
    </>
  );
}

function Banners({ status, lost }: { status: Status | null; lost: boolean }) {
  return (
    <div aria-live="assertive">
      {lost && <p class="banner">The console does not answer. What is shown stays; the page connects again by itself.</p>}
      {status?.archive.error && <p class="banner">The archive {shown(status.archive.location ?? "", 80)} cannot be read: {shown(status.archive.error, 300)}</p>}
      {status?.broker.state === "disconnected" && <p class="banner">The broker {shown(status.broker.url ?? "", 80)} does not answer{status.broker.error ? `: ${shown(status.broker.error, 300)}` : ""}. New events appear when it is back.</p>}
    </div>
  );
}
