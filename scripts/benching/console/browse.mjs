// Measures the console's page in Chromium: node browse.mjs URL CHROMIUM STEPS SEED DRAG_MS. Prints one line of JSON.
//
// A picture counts as drawn in the task after the frame that shows it, so that the rasterizing is included. The page is at rest
// when nothing was drawn and no request was open for 150 ms; a step's picture is the last one that was drawn before that.
import { chromium } from "../../../console/page/node_modules/playwright-core/index.mjs";
import { readFileSync } from "node:fs";

const [url, executablePath, steps, seed, dragMs] = process.argv.slice(2).map((text) => (/^\d+$/.test(text) ? Number(text) : text));
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const LEAST_SPAN_NS = 1000;
const WHEEL_FACTOR = 1.25; // per 100 units, as the page has it

/** Runs in the page before its own script: notes inputs, requests and drawings. */
function probe() {
  const state = { input: 0, asked: [], drawn: [], open: 0, firstFrame: 0, frames: 0 };
  let waiting = false;
  const now = () => performance.now();
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (...area) {
    if (this.canvas.getAttribute("aria-label")?.startsWith("Lifelines")) {
      const drawing = { start: now(), end: 0, painted: 0 };
      state.drawn.push(drawing);
      queueMicrotask(() => { drawing.end = now(); });
      if (!waiting) {
        waiting = true;
        requestAnimationFrame(() => {
          waiting = false;
          const channel = new MessageChannel();
          channel.port1.onmessage = () => {
            state.frames++;
            const at = now();
            state.drawn.forEach((one) => { one.painted ||= at; });
          };
          channel.port2.postMessage(null);
        });
      }
    }
    return clear.apply(this, area);
  };
  const own = window.fetch.bind(window);
  window.fetch = async (input, init) => {
    const asked = { url: String(input), at: now(), answered: 0, parsed: 0 };
    state.asked.push(asked);
    state.open++;
    try {
      const response = await own(input, init);
      asked.answered = now();
      const json = response.json.bind(response);
      response.json = async () => {
        try {
          const value = await json();
          asked.parsed = now();
          return value;
        } finally {
          state.open--;
        }
      };
      return response;
    } catch (error) {
      state.open--;
      throw error;
    }
  };
  for (const type of ["keydown", "wheel", "pointerdown"]) {
    window.addEventListener(type, (event) => { state.input ||= event.timeStamp; }, { capture: true, passive: true });
  }
  window.bench = {
    begin() {
      Object.assign(state, { input: 0, asked: [], drawn: [], frames: 0 });
    },
    frames: () => state.frames,
    /** What happened since begin(), once the page is at rest with new lifelines. */
    async rest(needed, limitMs) {
      for (const started = now(); now() - started < limitMs; await new Promise((done) => setTimeout(done, 20))) {
        const parsed = needed.map((path) => state.asked.filter((one) => one.url.includes(path) && one.parsed).at(-1)?.parsed);
        const last = state.drawn.at(-1);
        if (parsed.every(Boolean) && last?.painted && last.start > Math.max(...parsed) && state.open === 0 && now() - last.painted > 150
            && state.asked.every((one) => now() - Math.max(one.at, one.parsed) > 150)) {
          return { input: state.input, asked: state.asked, drawn: state.drawn };
        }
      }
      throw new Error(`the page was not at rest within ${limitMs} ms: ${JSON.stringify({ ...state, drawn: state.drawn.slice(-3) })}`);
    },
  };
}

/** Numbers in [0, 1) that are the same in each run (mulberry32). */
function random(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function api(path) {
  const response = await fetch(`${url}api/v1${path}`);
  if (!response.ok) {
    throw new Error(`${path}: ${response.status}`);
  }
  return response.json();
}

const lifelines = (asked) => asked.filter((one) => one.url.includes("/lifelines?"));

function spanOf(asked) {
  const query = new globalThis.URL(lifelines(asked).at(-1).url, url).searchParams;
  return { from: BigInt(query.get("from")), to: BigInt(query.get("to")) };
}

/** The times of a step in milliseconds since its input. */
function described(kind, rest, bytes) {
  const answer = lifelines(rest.asked).filter((one) => one.parsed).at(-1);
  const picture = rest.drawn.at(-1);
  const span = spanOf(rest.asked);
  return {
    kind, span_ns: Number(span.to - span.from),
    moved_ms: rest.drawn[0].painted - rest.input,
    drawn_ms: picture.painted - rest.input,
    asked_after_ms: answer.at - rest.input, answer_ms: answer.answered - answer.at, parse_ms: answer.parsed - answer.answered,
    draw_ms: picture.end - picture.start, paint_ms: picture.painted - picture.end, to_draw_ms: picture.start - answer.parsed,
    drawings: rest.drawn.length,
    panels_ms: Math.max(...rest.asked.map((one) => one.parsed)) - rest.input,
    lifelines_bytes: bytes.lifelines, bytes: bytes.all,
  };
}

function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kib = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)[1]);
  return { resident_mb: kib("VmRSS") * 1024 / 1e6, peak_mb: kib("VmHWM") * 1024 / 1e6, private_mb: (kib("RssAnon") + kib("VmSwap")) * 1024 / 1e6 };
}

const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(probe);
  page.on("pageerror", (error) => { throw error; });
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  const bytes = { lifelines: 0, all: 0 };
  const asked = new Map();
  cdp.on("Network.requestWillBeSent", (event) => asked.set(event.requestId, event.request.url));
  cdp.on("Network.loadingFinished", (event) => {
    bytes.all += event.encodedDataLength;
    bytes.lifelines += asked.get(event.requestId)?.includes("/lifelines?") ? event.encodedDataLength : 0;
  });
  const rest = (needed = ["/lifelines?"]) => page.evaluate(([paths, limit]) => window.bench.rest(paths, limit), [needed, 60_000]);
  const begin = async () => {
    bytes.lifelines = bytes.all = 0;
    await page.evaluate(() => window.bench.begin());
  };
  const canvas = page.getByRole("img", { name: /^Lifelines: / });

  const opened = async () => {
    bytes.lifelines = bytes.all = 0;
    await page.goto(url, { waitUntil: "commit" });
    const found = await rest(["/lifelines?", "/types"]);
    return { ...described("open", { ...found, input: 0 }, bytes), span: spanOf(found.asked) };
  };
  const first = await opened();
  const second = await opened();

  // The events that are zoomed to: at the middle of lifelines that the service chose.
  const { from, to } = first.span;
  const whole = await api(`/lifelines?from=${from}&to=${to}&width=1200&lines=1500`);
  const draw = random(seed);
  const line = whole.lines[Math.floor(draw() * whole.lines.length)];
  const target = BigInt(whole.base) + BigInt(line.t[Math.floor(line.t.length / 2)]);

  const box = await canvas.boundingBox();
  let view = second.span;
  /** Zooms by the wheel around the target's place in the picture. */
  const wheel = async (factor) => {
    const x = Number(target - view.from) / Number(view.to - view.from) * box.width;
    await page.mouse.move(box.x + Math.min(box.width - 2, Math.max(1, Math.round(x))), box.y + box.height / 2);
    await begin();
    await page.mouse.wheel(0, 100 * Math.log(factor) / Math.log(WHEEL_FACTOR));
  };
  const key = async (name) => {
    await begin();
    await page.keyboard.press(name);
  };
  const zooms = Math.floor(steps * 0.4);
  const pans = Math.floor(steps * 0.1);
  const factor = Math.exp(Math.log(Number(view.to - view.from) / LEAST_SPAN_NS) / zooms);
  const done = [];
  const step = async (kind, act) => {
    await act();
    const found = await rest();
    await new Promise((resolve) => setTimeout(resolve, 20)); // the browser reports the last bytes a little later
    view = spanOf(found.asked);
    done.push(described(kind, found, bytes));
  };
  for (const [kind, by] of [["in", 1 / factor], ["out", factor]]) {
    for (let i = 0; i < zooms; i++) {
      await step(`wheel ${kind}`, () => wheel(by));
      if (i % 4 === 3 && i / 4 < pans) {
        await step("pan", () => key(i % 8 === 3 ? "ArrowRight" : "ArrowLeft"));
      }
    }
  }

  const { metrics } = await cdp.send("Performance.enable").then(() => cdp.send("Performance.getMetrics"));
  const { processInfo } = await (await browser.newBrowserCDPSession()).send("SystemInfo.getProcessInfo");
  const renderer = processInfo.filter((one) => one.type === "renderer").sort((a, b) => b.cpuTime - a.cpuTime)[0];
  const memory = { ...memoryOf(renderer.id), heap_mb: metrics.find((one) => one.name === "JSHeapUsedSize").value / 1e6 };

  // Dragging, at three scales.
  const drags = [];
  for (const span of [Number(to - from), 10e9, 50e6]) {
    const part = span === Number(to - from) ? "" : `#from=${target - BigInt(span / 2)}&to=${target + BigInt(span / 2)}`;
    await page.goto("about:blank");
    await page.goto(`${url}${part}`, { waitUntil: "commit" });
    await rest(["/lifelines?", "/types"]);
    const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    await page.mouse.move(middle.x, middle.y);
    await page.mouse.down();
    await page.mouse.move(middle.x + 10, middle.y);
    await begin();
    const started = performance.now();
    const moves = [];
    for (let i = 0; performance.now() - started < dragMs; i++) {
      const phase = (i % 120) / 60;
      moves.push(page.mouse.move(middle.x + 200 * (phase < 1 ? phase : 2 - phase), middle.y));
      await new Promise((resolve) => setTimeout(resolve, started + (i + 1) * 1000 / 60 - performance.now()));
    }
    await Promise.all(moves);
    const frames = await page.evaluate(() => window.bench.frames());
    drags.push({ span_ns: span, frames_per_s: frames * 1000 / (performance.now() - started), moves: moves.length });
    await page.mouse.up();
  }
  delete first.span;
  delete second.span;
  console.log(JSON.stringify({ chromium: browser.version(), first, second, steps: done, drags, memory }));
} finally {
  await browser.close();
}
