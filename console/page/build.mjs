// Bundles the page into dist/: one script, one style sheet and index.html. With --tests: the unit tests, into build/.
import { build } from "esbuild";
import { copyFile, mkdir, readdir, rm } from "node:fs/promises";

const common = { bundle: true, target: "es2022", jsx: "automatic", jsxImportSource: "preact", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  await rm("build", { recursive: true, force: true });
  const tests = (await readdir("src", { recursive: true })).filter((file) => file.endsWith(".test.ts"));
  await build({ ...common, entryPoints: tests.map((file) => `src/${file}`), outdir: "build", platform: "node", format: "esm", outExtension: { ".js": ".test.mjs" } });
} else {
  await rm("dist", { recursive: true, force: true });
  await mkdir("dist");
  await build({ ...common, entryPoints: { page: "src/main.tsx" }, outdir: "dist", minify: true, legalComments: "linked" });
  await copyFile("src/index.html", "dist/index.html");
}
