// Takes the pictures of console/README.md, from a copy that the network slows: node walk.mjs CHROMIUM URL FOLDER
import { drawn, launch, settled, shows } from "./chromium.mjs";

const [executable, url, folder] = process.argv.slice(2);
const browser = await launch(executable);
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.goto(url);
  await shows(page);
  await drawn(page).waitFor();
  await settled(page);
  const where = page.getByRole("region", { name: "Where the time goes" });
  await where.getByRole("row").nth(2).waitFor();
  await page.screenshot({ path: `${folder}/lifelines.png` });

  await where.locator("tbody button").first().click();
  await page.getByRole("region", { name: "Time of a step" }).getByText(/between/).waitFor();
  const box = await drawn(page).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 300);
  for (let i = 0; i < 8; i++) {
    await page.mouse.wheel(0, -200);
  }
  await settled(page);
  await page.mouse.move(0, 0);
  await page.getByRole("region", { name: "Time of a step" }).evaluate((panel) => panel.scrollIntoView());
  await page.waitForTimeout(1000); // the panels ask a moment after the picture
  await settled(page);
  await page.screenshot({ path: `${folder}/step.png` });

  await page.getByRole("tab", { name: "Overview" }).click();
  await page.getByText(/^Balanced/).waitFor();
  await page.screenshot({ path: `${folder}/overview.png` });
} finally {
  await browser.close();
}
