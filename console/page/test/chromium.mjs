// Chromium, and what the page shows in it: for its tests and for a picture of it.
import { chromium } from "playwright-core";

const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export const launch = (executablePath) => chromium.launch({ executablePath, args: ARGUMENTS });

/** Waits until the page shows events. */
export const shows = (page) => page.getByText(/[1-9][0-9,]* events of [0-9]/).waitFor();
export const drawn = (page) => page.getByRole("img", { name: /^Lifelines: [1-9]/ });
/** Waits until what is shown is the answer to the newest question. */
export const settled = (page) => page.locator(".trace[aria-busy=false]").waitFor();
