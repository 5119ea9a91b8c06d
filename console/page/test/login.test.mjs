// Signing in on the page, in Chromium, at a console that needs a login. It shows no events: its broker does not answer.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { launch } from "./chromium.mjs";

const CONSOLE = fileURLToPath(new URL("../../../scripts/lifeline-console", import.meta.url));
const SHOTS = process.env.LIFELINE_SHOTS;
const PERSON = "Vic <script>alert(1)</script>";
const run = promisify(execFile);

let directory, tokens, service, url, browser, secret;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), "lifeline-login-"));
  tokens = join(directory, "tokens.json");
  const [certificate, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  await run("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=console",
    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]);
  secret = await issue("vic");
  service = spawn(CONSOLE, ["--broker", "nats://127.0.0.1:1", "--tokens", tokens, "--tls-cert", certificate, "--tls-key", key],
    { stdio: ["ignore", "pipe", "ignore"] });
  for await (const line of createInterface(service.stdout)) {
    url = /^console: (https:.*)/.exec(line)?.[1];
    break;
  }
  assert.ok(url, "the console did not start");
  browser = await launch(process.env.LIFELINE_CHROMIUM);
});
after(async () => {
  await browser?.close();
  service?.kill();
  await rm(directory, { recursive: true, force: true });
});

async function issue(name) {
  return (await run(CONSOLE, ["token", "issue", "--tokens", tokens, "--name", name, "--role", "view", "--for", PERSON])).stdout.trim();
}

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ignoreHTTPSErrors: true, ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(url);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  return { page, errors, context };
}

/** By keyboard: the field has the focus. */
async function signIn(page, token) {
  await page.keyboard.type(token);
  await page.keyboard.press("Enter");
}
const signedIn = (page) => page.getByText(`signed in as vic (view) for ${PERSON}, until 20`);

test("a person signs in with a token, stays signed in, and signs out", async () => {
  const { page, errors, context } = await open();
  await page.getByText(/this console needs a login/).waitFor();
  assert.ok(await page.getByLabel("Token").evaluate((field) => field === document.activeElement));
  await signIn(page, "llc_wrong");
  await page.getByRole("alert").filter({ hasText: "the token is unknown" }).waitFor();
  await signIn(page, secret);
  await signedIn(page).waitFor();
  await page.getByRole("tab", { name: "Overview" }).waitFor();
  await page.screenshot({ path: `${SHOTS}/signed-in.png` });
  const [cookie] = await context.cookies();
  assert.deepEqual([cookie.httpOnly, cookie.secure, cookie.sameSite, cookie.value === secret], [true, true, "Strict", false]);
  await page.reload();
  await signedIn(page).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You signed out.").waitFor();
  assert.deepEqual(await context.cookies(), []);
  await page.reload();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.deepEqual(errors, []);
  await context.close();
});

test("a page whose token is revoked says so, and takes another one", async () => {
  const { page, errors, context } = await open();
  await signIn(page, secret);
  await signedIn(page).waitFor();
  await run(CONSOLE, ["token", "revoke", "--tokens", tokens, "vic"]);
  await page.getByText("the token vic was revoked: sign in again with a token that is valid").waitFor();
  secret = await issue("vic");
  await signIn(page, secret);
  await signedIn(page).waitFor();
  assert.deepEqual(errors, []);
  await context.close();
});

// Themes differ in their colours alone, so all other rules are checked for one.
for (const [colorScheme, rules] of [["light", ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]], ["dark", { type: "rule", values: ["color-contrast"] }]]) {
  test(`signing in can be read and reached: ${colorScheme}`, async () => {
    const axe = await readFile(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
    const { page, context } = await open({ colorScheme, viewport: { width: 390, height: 800 } });
    const readable = async (what) => {
      const { violations } = await page.evaluate(`${axe}; axe.run(document, ${JSON.stringify({ runOnly: rules })})`);
      assert.deepEqual(violations.map((one) => `${what}: ${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), what);
      await page.screenshot({ path: `${SHOTS}/${what}-${colorScheme}.png` });
    };
    await signIn(page, "wrong");
    await page.getByRole("alert").waitFor();
    await readable("sign-in");
    await signIn(page, secret);
    await signedIn(page).waitFor();
    await readable("user");
    await context.close();
  });
}
