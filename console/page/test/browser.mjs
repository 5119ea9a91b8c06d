// Chromium with a page of the console, for all tests of the page.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

export const SHOTS = process.env.LIFELINE_SHOTS;
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

let browser;
export async function startBrowser() {
  browser = await chromium.launch({ executablePath: process.env.LIFELINE_CHROMIUM, args: ARGUMENTS });
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
  await page.getByText(/[1-9][0-9,]* events of [0-9]/).waitFor();
  return { page, errors, close: () => context.close() };
}

export async function api(url, path, body) {
  const response = await fetch(`${url}api/v1${path}`, body ? { method: "POST", body: JSON.stringify(body) } : {});
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
