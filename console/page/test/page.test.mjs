// The page in Chromium against a real console, whose archive is that of a copy with remote-copy.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFile } from "node:fs/promises";
import { api as ask, becomes, endBrowser, open as openPage, SHOTS, startBrowser } from "./browser.mjs";
import { drawn, settled } from "./chromium.mjs";

const URL = process.env.LIFELINE_CONSOLE_URL;
const WAY = ["disk.read.start", "disk.read.end", "net.send.start", "net.send.end", "net.receive.start"];

before(startBrowser);
after(endBrowser);

const open = (hash, options) => openPage(URL, hash, options);
const api = (path, body) => ask(URL, path, body);

/** What the toolbar says of the view: the span and the events in it. */
const said = async (page) => {
  await settled(page);
  return page.locator(".toolbar .span").innerText();
};
/** Waits until the address has that part. */
const linked = (page, part) => becomes(() => decodeURIComponent(page.url().replaceAll("+", " ")), (url) => url.includes(part));
/** Waits until a tab shows all that it has. */
async function whole(page, tab) {
  if (tab === "lifelines") {
    await drawn(page).waitFor();
    await settled(page);
    await page.getByRole("region", { name: "Slowest objects" }).getByRole("row").nth(2).waitFor();
  } else if (tab === "overview") {
    await page.getByText(/^Balanced/).waitFor();
    await page.getByRole("row", { name: /remote-copy/ }).first().waitFor();
  } else {
    await page.getByLabel("SQL on the archive").waitFor();
  }
}
const eventsSaid = async (page) => Number(/: ([0-9,]+) events/.exec(await said(page))[1].replaceAll(",", ""));

test("the page shows all events of the archive, types in the order that objects pass them", async () => {
  const { page, errors, close } = await open();
  await drawn(page).waitFor();
  const [[events]] = (await api("/sql", { sql: "SELECT count(*) FROM events" })).rows;
  await becomes(() => eventsSaid(page), (shown) => shown === events);
  const labels = await page.locator(".label").allInnerTexts();
  const places = WAY.map((type) => labels.indexOf(type));
  assert.ok(places.every((place, i) => place >= 0 && (i === 0 || place > places[i - 1])), labels.join(" "));
  await page.screenshot({ path: `${SHOTS}/lifelines.png` });
  assert.deepEqual(errors, []);
  await close();
});

test("the wheel zooms around the mouse, a drag moves, a key shows all again", async () => {
  const { page, errors, close } = await open();
  await drawn(page).waitFor();
  const all = await said(page);
  const box = await drawn(page).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 200);
  for (let i = 0; i < 5; i++) {
    await page.mouse.wheel(0, -200);
  }
  const close_ = await becomes(() => said(page), (now) => now !== all);
  // The address follows after a moment; the middle of a copy may be a pause without events.
  await becomes(async () => {
    const link = new URLSearchParams(new globalThis.URL(page.url()).hash.slice(1));
    const sql = `SELECT count(*) FROM events WHERE epoch_ns(ts) BETWEEN ${link.get("from") ?? 0} AND ${link.get("to") ?? 0}`;
    return [await eventsSaid(page), (await api("/sql", { sql })).rows[0][0], link.get("from")];
  }, ([shown, archived, from]) => from !== null && shown === archived);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 200, box.y + 200, { steps: 5 });
  await page.mouse.up();
  await becomes(() => said(page), (now) => now !== close_);
  await page.keyboard.press("0");
  await becomes(() => said(page), (now) => now === all);
  assert.deepEqual(errors, []);
  await close();
});

test("what stands beside the mouse is of the picture that is shown, after zooming, too", async () => {
  const { page, errors, close } = await open();
  await drawn(page).waitFor();
  await settled(page);
  const box = await drawn(page).boundingBox();
  const tooltip = page.getByRole("tooltip");
  let x = box.x + 50;
  do {
    await page.mouse.move(x, box.y + box.height / 2);
    x += 7;
    assert.ok(x < box.x + box.width, "there is an event somewhere");
  } while (!(await tooltip.isVisible()));
  for (let i = 0; i < 4; i++) {
    await page.mouse.wheel(0, -200);
    await settled(page);
    await becomes(async () => {
      if (!(await tooltip.isVisible())) {
        return true;
      }
      const shown = Date.parse(`${(await tooltip.innerText()).match(/\d{4}-\S+ [\d:.]{12}/)[0].replace(" ", "T")}Z`);
      const link = new URLSearchParams(new globalThis.URL(page.url()).hash.slice(1));
      return shown >= Number(link.get("from")) / 1e6 - 1 && shown <= Number(link.get("to")) / 1e6 + 1;
    }, (inside) => inside);
  }
  assert.deepEqual(errors, []);
  await close();
});

test("keys zoom and move", async () => {
  const { page, errors, close } = await open();
  await drawn(page).waitFor();
  const all = await said(page);
  await page.keyboard.press("+");
  const zoomed = await becomes(() => said(page), (now) => now !== all);
  await page.keyboard.press("ArrowRight");
  await becomes(() => said(page), (now) => now !== zoomed);
  await page.keyboard.press("ArrowLeft");
  await becomes(() => said(page), (now) => now === zoomed);
  assert.deepEqual(errors, []);
  await close();
});

test("a click on a slow object shows its events with their fields and the time between them", async () => {
  const { page, errors, close } = await open();
  const slowest = page.getByRole("region", { name: "Slowest objects" });
  const first = slowest.getByRole("row").nth(2).getByRole("button");
  const id = await first.innerText();
  await first.click();
  const panel = page.getByRole("region", { name: "Selected object" });
  await panel.getByText(id).waitFor();
  const [[events]] = (await api("/sql", { sql: `SELECT count(*) FROM events WHERE id = '${id}'` })).rows;
  assert.equal(await panel.locator("tbody tr.event").count(), events);
  assert.match(await panel.innerText(), /nbytes=\d+/);
  await linked(page, `object=${id}`);
  await page.screenshot({ path: `${SHOTS}/object.png` });
  assert.deepEqual(errors, []);
  await close();
});

test("where the time goes agrees with SQL", async () => {
  const { page, errors, close } = await open();
  const panel = page.getByRole("region", { name: "Where the time goes" });
  for (const [group, step] of [["Working", /disk\.write\.start → disk\.write\.end/], ["Waiting between stages", /disk\.read\.end → net\.send\.start/]]) {
    await panel.getByRole("rowgroup").filter({ has: page.getByRole("rowheader", { name: group }) }).getByRole("row", { name: step }).waitFor();
  }
  const row = panel.getByRole("row", { name: /disk\.read\.start → disk\.read\.end/ });
  await row.waitFor();
  // A copy's first block has the id of the copy, whose events may come between.
  const answers = [];
  for (const others of ["", ' WHERE id NOT IN (SELECT id FROM "transfer.start")']) {
    const sql = `SELECT CAST(sum(epoch_ns(e.ts) - epoch_ns(s.ts)) AS DOUBLE), max(epoch_ns(e.ts) - epoch_ns(s.ts)), count(*)
      FROM "disk.read.start" s JOIN "disk.read.end" e USING (id)${others}`;
    answers.push((await api("/sql", { sql })).rows[0].map(Number));
  }
  const found = (await api(`/steps?from=0&to=9000000000000000000`)).steps;
  const types = (await api("/types")).types;
  const type = (name) => types.find((one) => one.name === name).type;
  const step = found.find((one) => one.a === type("disk.read.start") && one.b === type("disk.read.end"));
  const answer = answers.find(([, , count]) => count === step.count);
  assert.ok(answer, `${step.count} of ${JSON.stringify(answers)}`);
  assert.deepEqual([step.totalNs, step.maxNs], answer.slice(0, 2));
  await row.getByRole("button").first().click();
  await page.getByRole("heading", { name: /Time between disk\.read\.start and disk\.read\.end/ }).waitFor();
  assert.equal(await page.locator(".label[aria-pressed=true]").count(), 2);
  assert.deepEqual(errors, []);
  await close();
});

test("a link to types that are not there shows no figures of something else", async () => {
  const { page, errors, close } = await open("#a=pay.start&b=disk.read.end");
  const panel = page.getByRole("region", { name: "Time of a step" });
  await panel.getByText("There is no event type pay.start in these events.").waitFor();
  assert.equal(await panel.getByRole("table").count(), 0);
  assert.equal(await page.getByRole("region", { name: "Slowest objects" }).count(), 0);
  assert.deepEqual(errors, []);
  await close();
});

test("two stages are chosen by keyboard, and Escape gives them up", async () => {
  const { page, errors, close } = await open();
  await drawn(page).waitFor();
  await page.getByRole("button", { name: "net.send.start", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "net.receive.start", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /Time between net\.send\.start and net\.receive\.start/ }).waitFor();
  const cells = await page.getByRole("region", { name: "Time of a step" }).getByRole("row").nth(1).innerText();
  assert.match(cells, /[1-9]/);
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Time of whole objects" }).waitFor();
  assert.deepEqual(errors, []);
  await close();
});

test("rows change places by keyboard, and the link keeps them", async () => {
  const { page, errors, close } = await open();
  await drawn(page).waitFor();
  const before = await page.locator(".label").allInnerTexts();
  await page.getByRole("button", { name: before[2], exact: true }).focus();
  await page.keyboard.press("Alt+ArrowUp");
  const labels = () => page.locator(".label").allInnerTexts();
  const changed = await becomes(labels, (now) => now[1] === before[2]);
  assert.deepEqual(changed.slice(0, 3), [before[0], before[2], before[1]]);
  await linked(page, "order=");
  const again = await open(new globalThis.URL(page.url()).hash);
  await drawn(again.page).waitFor();
  await becomes(() => again.page.locator(".label").allInnerTexts(), (now) => now.join() === changed.join());
  assert.deepEqual([...errors, ...again.errors], []);
  await again.close();
  await close();
});

test("a span is brushed, and only its slowest objects are ranked", async () => {
  const { page, errors, close } = await open();
  await drawn(page).waitFor();
  const box = await drawn(page).boundingBox();
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + box.width * 0.05, box.y + 100); // wide: a copy may pause for a while
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 120, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const panel = page.getByRole("region", { name: "Slowest objects" });
  const objects = (await api("/status")).index.objects;
  const counted = async () => Number(/([0-9,]+) in this span/.exec(await panel.innerText())?.[1].replaceAll(",", ""));
  await becomes(counted, (now) => now > 0 && now < objects);
  assert.deepEqual(errors, []);
  await close();
});

test("two spans are compared", async () => {
  const { page, errors, close } = await open();
  await drawn(page).waitFor();
  await page.getByRole("button", { name: "Compare with this" }).click();
  await page.getByRole("img", { name: /^Lifelines before: [1-9]/ }).waitFor();
  await page.getByRole("region", { name: "Time of a step" }).getByRole("row", { name: /^before/ }).waitFor();
  await page.screenshot({ path: `${SHOTS}/compare.png` });
  await page.getByRole("button", { name: "End comparison" }).click();
  await page.getByRole("img", { name: /^Lifelines before/ }).waitFor({ state: "detached" });
  assert.deepEqual(errors, []);
  await close();
});

test("a load line shows the values of a field", async () => {
  const { page, errors, close } = await open();
  await drawn(page).waitFor();
  await page.getByLabel("Add a load line").selectOption({ label: "net.socket: rtt (us)" });
  await page.locator(".loadline .uplot canvas").waitFor();
  const { min, max, count } = await api("/series?type=net.socket&field=rtt&from=0&to=9000000000000000000&width=1");
  const [[least, most, all]] = (await api("/sql", { sql: 'SELECT min(rtt), max(rtt), count(rtt) FROM "net.socket"' })).rows;
  assert.deepEqual([min[0], max[0], count[0]], [Number(least), Number(most), Number(all)]);
  await page.getByRole("button", { name: "Remove rtt" }).click();
  await page.locator(".loadline").waitFor({ state: "detached" });
  assert.deepEqual(errors, []);
  await close();
});

test("types are filtered by name", async () => {
  const { page, errors, close } = await open();
  await drawn(page).waitFor();
  await page.getByLabel("Types").fill("disk.");
  const labels = await becomes(() => page.locator(".label").allInnerTexts(), (now) => now.length === 4);
  assert.deepEqual(new Set(labels), new Set(["disk.read.start", "disk.read.end", "disk.write.start", "disk.write.end"]));
  assert.deepEqual(errors, []);
  await close();
});

test("the picture is saved as PNG and as SVG", async () => {
  const { page, errors, close } = await open();
  await drawn(page).waitFor();
  for (const [name, begins] of [["PNG", "\x89PNG"], ["SVG", "<svg"]]) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
    const bytes = await readFile(await file.path());
    assert.ok(bytes.subarray(0, begins.length).toString("latin1") === begins && bytes.length > 10_000, `${name}: ${bytes.length} bytes`);
  }
  assert.deepEqual(errors, []);
  await close();
});

test("the overview shows the bottleneck's evidence and a balanced ledger", async () => {
  const { page, errors, close } = await open("#tab=overview");
  const ledger = page.getByRole("region", { name: "Ledger" });
  await ledger.getByText(/^Balanced/).waitFor();
  const report = await api("/report");
  assert.ok((await ledger.innerText()).includes(`${report.balance.emitted.toLocaleString("en")} emitted`));
  assert.equal(await page.locator(".answer").innerText(), report.bottleneck);
  assert.ok((await ledger.getByRole("row", { name: /remote-copy/ }).count()) === 2);
  await page.screenshot({ path: `${SHOTS}/overview.png` });
  assert.deepEqual(errors, []);
  await close();
});

test("a console that is busy is asked again, and the page says that it waits", async () => {
  const { page, errors, close } = await open("#tab=ask");
  let answers = 0;
  await page.route(/\/api\/v1\/(report|sql)$/, (route) => answers++ % 2 === 0
    ? route.fulfill({ status: 503, headers: { "Retry-After": "1" }, contentType: "application/problem+json", body: JSON.stringify({ detail: "other questions are running" }) })
    : route.continue());
  await page.getByRole("button", { name: "Run" }).click();
  const waits = page.getByText("Waiting: other questions are running. The page asks again by itself.");
  await waits.waitFor();
  await page.getByRole("region", { name: "Result" }).getByText(/^[0-9]+ rows in/).waitFor();
  await page.getByRole("tab", { name: "Overview" }).click();
  await waits.waitFor();
  await page.getByText(/^Balanced/).waitFor();
  assert.equal(await waits.count(), 0);
  assert.equal(answers, 4);
  assert.deepEqual(errors.filter((one) => !one.includes("503")), [], "Chromium reports what was refused");
  await close();
});

test("a query is completed, run by keyboard, linked, and its result is a table, a chart and CSV", async () => {
  const { page, errors, close } = await open("#tab=ask");
  const editor = page.getByLabel("SQL on the archive");
  await editor.fill("SELECT type, count(*) AS n FROM eve");
  await becomes(async () => {
    await page.keyboard.press("Control+Space"); // nothing is known before the schema has come
    return page.getByRole("option", { name: "events" }).count();
  }, (options) => options > 0);
  await page.keyboard.press("Enter");
  await page.keyboard.type(" GROUP BY type ORDER BY n DESC");
  await page.keyboard.press("Control+Enter");
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText(/^[0-9]+ rows in/).waitFor();
  const types = (await api("/types")).types.length;
  assert.equal(await result.locator("tbody tr").count(), types);
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  assert.equal((await readFile(await file.path(), "utf8")).trim().split("\r\n").length, types + 1);
  await page.getByLabel("as chart").check();
  assert.equal(await result.locator(".bars tr").count(), types);
  await linked(page, "GROUP BY type ORDER BY n DESC");
  const again = await open(new globalThis.URL(page.url()).hash);
  await again.page.getByRole("region", { name: "Result" }).getByText(/^[0-9]+ rows in/).waitFor();
  assert.deepEqual([...errors, ...again.errors], []);
  await again.close();
  await close();
});

test("a query that is wrong or reads files is answered with the reason", async () => {
  const { page, close } = await open("#tab=ask");
  for (const [sql, reason] of [["SELEC 1", /syntax/i], ["SELECT * FROM read_csv('/etc/passwd')", /permission|disabled|not allowed/i], ["DROP VIEW events", /only read/]]) {
    await page.getByLabel("SQL on the archive").fill(sql);
    await page.keyboard.press("Control+Enter");
    await page.getByRole("alert").filter({ hasText: reason }).waitFor();
  }
  await close();
});

test("on a phone's width nothing is wider than the screen", async () => {
  for (const tab of ["lifelines", "overview", "ask"]) {
    const { page, errors, close } = await open(`#tab=${tab}`, { viewport: { width: 390, height: 800 }, hasTouch: true });
    await whole(page, tab);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), tab);
    await page.screenshot({ path: `${SHOTS}/phone-${tab}.png` });
    assert.deepEqual(errors, []);
    await close();
  }
});

// Themes differ in their colours alone, so all other rules are checked for one.
for (const [colorScheme, rules] of [["light", ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]], ["dark", { type: "rule", values: ["color-contrast"] }]]) {
  test(`everything can be read and reached: ${colorScheme}`, async () => {
    const axe = await readFile(new globalThis.URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
    for (const tab of ["lifelines", "overview", "ask"]) {
      const { page, close } = await open(`#tab=${tab}`, { colorScheme });
      await whole(page, tab);
      const { violations } = await page.evaluate(`${axe}; axe.run(document, ${JSON.stringify({ runOnly: rules })})`);
      assert.deepEqual(violations.map((one) => `${tab}: ${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`), []);
      await page.screenshot({ path: `${SHOTS}/${tab}-${colorScheme}.png` });
      await close();
    }
  });
}
