// The page on a real broker, of which a program emits: what it shows while the program runs, and what it switches.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { api, becomes, endBrowser, open, SHOTS, startBrowser } from "./browser.mjs";

const { LIFELINE_LIVE_URL: URL, LIFELINE_BROKER_DIR: BROKER, LIFELINE_ROOT: ROOT, LIFELINE_URL } = process.env;
const run = promisify(execFile);
const PROGRAMS = `${ROOT}/build/emitter/bin`;
const broker = (what, ...more) => run(`${ROOT}/scripts/broker`, [what, ...more, "--dir", BROKER]);
const activate = async (...words) => JSON.parse((await run(`${PROGRAMS}/lifeline-activate`, ["--json", ...words])).stdout);

let emitter;
before(async () => {
  emitter = spawn(`${PROGRAMS}/lifeline-activation`, ["3600"], {
    env: { LIFELINE_URL, LIFELINE_RESOLUTION: "* off level>=debug", LIFELINE_RING_DIR: `${BROKER}/rings`, LIFELINE_SPOOL: `${BROKER}/spool` }, stdio: "inherit",
  });
  await startBrowser();
});
after(async () => {
  await endBrowser();
  if (emitter?.exitCode === null) {
    emitter.kill();
    await once(emitter, "exit");
  }
});

const events = async (page) => Number(/([0-9,]+) events/.exec(await page.locator(".state").innerText())[1].replaceAll(",", ""));
const packets = async () => (await api(URL, "/types")).types.find((type) => type.name === "example.packet")?.events ?? 0;
// The console emits, too: what is for all programs is followed by two.
const activations = (page) => page.getByRole("region", { name: "Activations" });

test("events appear while a program runs, and the directory shows it", async () => {
  const { page, errors, close } = await open(URL, "#tab=overview");
  const shown = await events(page);
  await becomes(() => events(page), (now) => now > shown);
  const row = page.getByRole("region", { name: "Emitters" }).getByRole("row", { name: /lifeline-activation/ });
  await row.getByText("running").waitFor();
  const [emitted] = (await api(URL, "/emitters")).rows;
  assert.equal(emitted.pid, emitter.pid);
  assert.deepEqual(emitted.drops, {});
  assert.ok(Math.abs(emitted.clockMs) < 60_000, `clocks of one machine: ${emitted.clockMs} ms`);
  assert.deepEqual(errors, []);
  await close();
});

test("the picture moves with the newest events, and stands still when paused", async () => {
  const { page, errors, close } = await open(URL, "#follow=true");
  const span = () => page.locator(".toolbar .span").innerText();
  const first = await span();
  await becomes(span, (now) => now !== first);
  await page.keyboard.press(" ");
  await page.getByRole("button", { name: /Follow/ }).waitFor();
  const start = async () => / from (\S+ \S+?):? /.exec(`${await span()} `)[1];
  const paused = await start();
  const shown = await events(page);
  await becomes(() => events(page), (now) => now > shown + 1);
  assert.equal(await start(), paused);
  assert.deepEqual(errors, []);
  await close();
});

test("what is switched on in the page is emitted, by whom is shown, and it ends", async () => {
  const { page, errors, close } = await open(URL, "#tab=overview");
  const panel = activations(page);
  assert.equal(await packets(), 0, "packets are off at first");
  await panel.getByLabel("Events").fill("example.packet full program=lifeline-activation");
  await panel.getByRole("button", { name: "What would it bring?" }).click();
  await panel.getByText(/how much it brings is not known/).waitFor();
  await panel.getByRole("button", { name: "Switch on" }).press("Enter");
  await panel.getByRole("button", { name: "Cancel" }).waitFor();
  await page.keyboard.press("Enter"); // as a key that is held down
  await panel.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
  await panel.getByRole("button", { name: "Switch on" }).click();
  await panel.getByRole("button", { name: "Cancel" }).waitFor();
  assert.deepEqual((await api(URL, "/activations")).rows, [], "nothing is done before it is confirmed");
  await panel.getByRole("button", { name: "Switch on" }).click();
  const row = panel.getByRole("row", { name: /^example\.packet full/ });
  await row.getByText(/1 follow/).waitFor();
  await becomes(packets, (now) => now > 100);
  await page.screenshot({ path: `${SHOTS}/activations.png`, fullPage: true });

  const [{ id, line }] = (await api(URL, "/activations")).rows;
  assert.deepEqual((await activate("list")).map((one) => one.line), [line]);
  await row.getByRole("button", { name: "5 min from now" }).click();
  const extended = await becomes(async () => (await api(URL, "/activations")).rows[0], (now) => now.line !== line);
  assert.equal(extended.id, id);
  assert.match(extended.line, /^example\.packet full program=lifeline-activation for=300s issued=/);
  await row.getByText(/1 follow/).waitFor();
  await row.getByText(/by local from 127\.0\.0\.1/).waitFor();
  await becomes(() => api(URL, "/types"), ({ types }) => types.some((type) => type.name === "console.audit" && type.events >= 2));

  await row.getByRole("button", { name: "End" }).click();
  await panel.getByText(/Nothing is switched on/).waitFor();
  assert.deepEqual(await activate("list"), []);
  const cost = await becomes(() => api(URL, "/estimate?line=example.packet%20sample:10"), (now) => now.known);
  assert.match(cost.text, /^example\.packet sample:10: at most about [0-9,]+ events\/s from 1 emitter/);
  assert.deepEqual(errors.filter((one) => !one.includes("409")), [], "Chromium reports the question for confirmation");
  await close();
});

test("a stage in the picture is switched on for five minutes", async () => {
  const { page, errors, close } = await open(URL, "#a=example.packet&follow=true");
  const button = page.getByRole("button", { name: "example.packet full: for five minutes" });
  await button.click();
  await page.getByText(/^Switched on: example\.packet full/).waitFor();
  const [row] = (await api(URL, "/activations")).rows;
  assert.ok(row.remainingMs > 200_000 && row.remainingMs <= 300_000, `${row.remainingMs} ms`);
  await activate("end", "--all");
  assert.deepEqual(errors, []);
  await close();
});

test("of two operators who change an activation, the second sees what the first did", async () => {
  await activate("set", "--id", "shared", "example.packet sample:10");
  const { page, close } = await open(URL, "#tab=overview");
  const row = activations(page).getByRole("row", { name: /sample:10/ });
  await row.waitFor();
  const [{ line }] = (await api(URL, "/activations")).rows;
  await activate("set", "--id", "shared", "example.packet sample:1000");
  const response = await fetch(`${URL}api/v1/activations/shared?line=${encodeURIComponent(line)}`, { method: "DELETE" });
  assert.equal(response.status, 409);
  assert.match((await response.json()).detail, /changed by somebody else meanwhile: it is now 'example\.packet sample:1000/);
  await activations(page).getByRole("row", { name: /sample:1000/ }).waitFor();
  await activate("end", "shared");
  const gone = await fetch(`${URL}api/v1/activations/shared`, { method: "DELETE" });
  assert.equal(gone.status, 404);
  await close();
});

test("an emitter that cannot follow is shown with its reason", async () => {
  await activate("set", "--id", "wrong", "example.second full route=nowhere program=lifeline-activation");
  const { page, close } = await open(URL, "#tab=overview");
  const refusing = activations(page).getByText(/1 refuse/);
  await refusing.waitFor();
  assert.match(await refusing.locator("xpath=..").getAttribute("title"), /nowhere/);
  await activate("end", "wrong");
  await close();
});

test("the page says when the broker has gone, keeps what it has, and goes on when it is back", async () => {
  const { page, close } = await open(URL, "#tab=overview");
  const shown = await events(page);
  await broker("kill");
  await page.getByText(/^The broker .* does not answer/).waitFor({ timeout: 60_000 });
  assert.ok(await events(page) >= shown);
  await page.screenshot({ path: `${SHOTS}/broker-gone.png` });
  const kept = await events(page);
  await broker("start", "nats", "--owner", String(process.pid));
  await becomes(() => events(page), (now) => now > kept, 90_000);
  await page.getByText(/^The broker .* does not answer/).waitFor({ state: "detached" });
  await close();
});
