// Saves a picture of the page as soon as it shows lifelines: node picture.mjs CHROMIUM URL FILE
import { drawn, launch, settled, shows } from "./chromium.mjs";

const [executable, url, path] = process.argv.slice(2);
const browser = await launch(executable);
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(url);
  await shows(page);
  await drawn(page).waitFor();
  await settled(page);
  await page.getByRole("region", { name: "Slowest objects" }).getByRole("row").nth(2).waitFor();
  await page.screenshot({ path });
} finally {
  await browser.close();
}
