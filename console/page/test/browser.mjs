// Opens the page for its tests, and asks the console behind it.
import assert from "node:assert/strict";
import { launch, shows } from "./chromium.mjs";

export const SHOTS = process.env.LIFELINE_SHOTS;

let browser;
export async function startBrowser() {
  browser = await launch(process.env.LIFELINE_CHROMIUM);
}
export async function endBrowser() {
  await browser?.close();
}

/** Opens the page; the test fails if the page reports an error or asks anybody else for something. */
export async function open(url, hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("request", (request) => !request.url().startsWith(url) && !/^(data|blob):/.test(request.url()) && errors.push(`foreign request: ${request.url()}`));
  await page.goto(`${url}${hash}`);
  await shows(page);
  return { page, errors, close: () => context.close() };
}

export async function api(url, path, body) {
  const response = await fetch(`${url}api/v1${path}`, body ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {});
  assert.ok(response.ok, `${path}: ${response.status}`);
  return response.json();
}

/** Waits until a question about the page is answered as wanted; returns the answer. */
export async function becomes(ask, wanted, patienceMs = 30_000) {
  const end = Date.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) {
      return answer;
    }
    assert.ok(Date.now() < end, `it stays ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
