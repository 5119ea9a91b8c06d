// The page in Chromium against a real console, whose events have names and strings that are made to harm it (hostile_events.py):
// nothing runs, nothing leaves its place, everything is shown as text.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFile } from "node:fs/promises";
import { chromium } from "playwright-core";

const URL = process.env.LIFELINE_HOSTILE_URL;
const SHOTS = process.env.LIFELINE_SHOTS;
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const SCRIPT = "<script>alert(1)</script>";

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.LIFELINE_CHROMIUM, args: ARGUMENTS });
});
after(() => browser?.close());

/** Opens the page; `harm` gets what a hostile name has achieved. */
async function open(hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
  await context.addInitScript(() => document.addEventListener("securitypolicyviolation",
    (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
  const page = await context.newPage();
  const harm = [];
  page.on("dialog", (dialog) => {
    harm.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("pageerror", (error) => harm.push(error.message));
  page.on("console", (message) => message.type() === "error" && harm.push(message.text()));
  page.on("request", (request) => !request.url().startsWith(URL) && !/^(data|blob):/.test(request.url()) && harm.push(`foreign request: ${request.url()}`));
  await page.goto(`${URL}${hash}`);
  await page.getByText(/[1-9][0-9,]* events of [1-9]/).waitFor();
  return { page, harm, close: () => context.close() };
}

/** What is on the page that names and strings must not bring there; runs in the browser. */
function brought() {
  const found = [];
  for (const element of document.querySelectorAll("*")) {
    const handler = [...element.attributes].find((attribute) => attribute.name.startsWith("on") || (/^(href|src|action)$/.test(attribute.name) && /^\s*javascript:/i.test(attribute.value)));
    if (handler || element.matches("img, iframe, object, embed, base, form[action], body style, script:not([src])")) {
      found.push(element.outerHTML.slice(0, 200));
    }
  }
  // Controls that turn the direction of writing, or have no picture: in texts, and in what is shown beside the mouse.
  const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (invisible.test(texts.currentNode.data)) {
      found.push(`text: ${JSON.stringify(texts.currentNode.data.slice(0, 200))}`);
    }
  }
  for (const element of document.querySelectorAll("[title], [aria-label]")) {
    if (invisible.test(`${element.title}${element.ariaLabel}`)) {
      found.push(`title: ${JSON.stringify(`${element.title} ${element.ariaLabel}`.slice(0, 200))}`);
    }
  }
  return found;
}

/** Elements whose text reaches out of them, and those that make the page wider than the window; runs in the browser. */
function escaped() {
  const found = document.documentElement.scrollWidth > window.innerWidth ? [`the page is ${document.documentElement.scrollWidth} px wide`] : [];
  for (const element of document.querySelectorAll("td, th, li, p, h2, button, option, figcaption, pre, .tooltip, .label, .fields")) {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || !element.textContent || element.closest("select") || getComputedStyle(element).overflow !== "visible") {
      continue; // not drawn, or what is too long is cut
    }
    const text = document.createRange();
    text.selectNodeContents(element);
    const inside = text.getBoundingClientRect();
    if (inside.left < box.left - 1 || inside.right > box.right + 1 || inside.top < box.top - 3 || inside.bottom > box.bottom + 3) {
      found.push(`${element.tagName} ${element.className}: ${element.textContent.slice(0, 80)}`);
    }
  }
  // A cell is not higher than a few lines, however many lines or marks a name has.
  for (const row of document.querySelectorAll("tr")) {
    if (row.getBoundingClientRect().height > 400) {
      found.push(`a row of ${row.getBoundingClientRect().height} px: ${row.textContent.slice(0, 80)}`);
    }
  }
  return found;
}

async function unharmed({ page, harm }, where) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.deepEqual(await page.evaluate(brought), [], where);
  assert.deepEqual(await page.evaluate(escaped), [], where);
  assert.deepEqual(harm, [], where);
}

/** Shows everything that a tab has. */
async function whole(page, tab) {
  if (tab === "lifelines") {
    await page.getByRole("img", { name: /^Lifelines: [1-9]/ }).waitFor();
    await page.locator(".trace[aria-busy=false]").waitFor();
    await page.getByRole("region", { name: "Slowest objects" }).getByRole("row").nth(2).waitFor();
  } else if (tab === "sessions") {
    await page.getByRole("region", { name: "Sessions" }).getByRole("row").nth(2).waitFor();
    await page.getByRole("region", { name: "Session", exact: true }).getByRole("row").nth(2).waitFor();
  } else if (tab === "overview") {
    await page.getByRole("region", { name: "Ledger" }).getByRole("row").nth(2).waitFor();
    await page.getByRole("region", { name: "Event types" }).getByRole("row").nth(2).waitFor();
    await page.getByRole("region", { name: "Emitters" }).getByRole("row").nth(1).waitFor();
  } else {
    await page.getByRole("region", { name: "Result" }).getByText(/rows in/).waitFor();
  }
}

const SQL = `SELECT type, min(program) AS "${SCRIPT}", max(host) AS host, min(id) AS id, max(CAST(fields AS VARCHAR)) AS fields,
  repeat('<b>64 KiB</b> ', 5042) AS "\u202e" FROM events GROUP BY type`;
const HASHES = {
  lifelines: "",
  sessions: `#${new URLSearchParams({ tab: "sessions", session: SCRIPT })}`,
  overview: "#tab=overview",
  ask: `#${new URLSearchParams({ tab: "ask", sql: SQL })}`,
};

for (const [width, height] of [[1280, 800], [390, 800]]) {
  for (const [tab, hash] of Object.entries(HASHES)) {
    test(`hostile names are shown as text: ${tab}, ${width} px`, async () => {
      const opened = await open(hash, { viewport: { width, height } });
      await whole(opened.page, tab);
      await unharmed(opened, tab);
      assert.ok((await opened.page.locator("body").innerText()).includes(SCRIPT), "the name as it is");
      assert.ok((await opened.page.locator("body").innerText()).includes("\\u202egnp.exe\\u202c"), "what turns the direction is visible");
      await opened.page.screenshot({ path: `${SHOTS}/hostile-${tab}-${width}.png` });
      await opened.close();
    });
  }
}

test("hostile objects, steps, load lines, tooltips and links harm nothing", async () => {
  const opened = await open();
  const { page } = opened;
  await whole(page, "lifelines");
  const rows = page.getByRole("region", { name: "Slowest objects" }).getByRole("button");
  for (let i = 0; i < Math.min(6, await rows.count()); i++) {
    await rows.nth(i).click();
    const panel = page.getByRole("region", { name: "Selected object" });
    await panel.locator("tbody tr.event").first().waitFor();
    await unharmed(opened, `object ${i}`);
    await panel.getByRole("button", { name: "Close the selected object" }).click();
  }
  for (const label of (await page.locator(".label").all()).slice(0, 2)) {
    await label.focus();
    await page.keyboard.press("Enter");
  }
  await page.getByRole("heading", { name: /Time between/ }).waitFor();
  await unharmed(opened, "a step");
  const load = page.getByLabel("Add a load line");
  for (const value of (await load.locator("option").evaluateAll((options) => options.map((option) => option.value))).slice(1, 6)) {
    await load.selectOption(value);
  }
  await page.locator(".loadline .uplot canvas").first().waitFor();
  await unharmed(opened, "load lines");
  const box = await page.getByRole("img", { name: /^Lifelines: [1-9]/ }).boundingBox();
  for (let x = 20; x < box.width; x += 40) {
    await page.mouse.move(box.x + x, box.y + 60);
  }
  await unharmed(opened, "tooltips");
  const again = await open(new globalThis.URL(page.url()).hash);
  await whole(again.page, "lifelines");
  await unharmed(again, "the link");
  await again.close();
  await opened.close();
});

test("a picture as SVG holds hostile names as text only", async () => {
  const { page, harm, close } = await open();
  await whole(page, "lifelines");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "SVG", exact: true }).click()]);
  const elements = await page.evaluate((text) => {
    const svg = new DOMParser().parseFromString(text, "image/svg+xml");
    return [...new Set([...svg.querySelectorAll("*")].map((element) => element.tagName))];
  }, await readFile(await file.path(), "utf8"));
  assert.deepEqual(elements.filter((name) => !["svg", "rect", "polyline", "circle", "text"].includes(name)), []);
  assert.ok(elements.includes("text"));
  assert.deepEqual(harm, []);
  await close();
});

test("a link with hostile parts harms nothing", async () => {
  for (const hash of [`#tab=${SCRIPT}&program=${SCRIPT}&host=%E2%80%AE&object=${SCRIPT}&order=${SCRIPT}`, "#from=x&to=-1&before=a-b&load=__proto__", `#tab=ask&sql=${encodeURIComponent("SELECT '<img src=x onerror=alert(1)>' AS \"<script>alert(1)</script>\"")}`]) {
    const opened = await open(hash);
    await unharmed({ ...opened, harm: opened.harm.filter((one) => !/status of 4/.test(one)) }, hash);
    await opened.close();
  }
});
