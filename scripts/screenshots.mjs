// Makes the pictures of docs/images: the first page of an empty store, and the pages of a store with conversations that
// were written for this purpose. Home folders are empty, so nothing of the person who runs it is in them.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { CHROMIUM_FLAGS, CHROMIUM_REMEDY, findChromium } from "./find-chromium.mjs";
import { optimizePng } from "./optimize-png.mjs";
import { fillStore } from "./pictures/fill-store.mjs";
import { HEALTH_PICTURE, listFilledPictures, START_PICTURES, TASKS_PICTURE } from "./pictures/pictures.mjs";
import { startTasks } from "./pictures/start-tasks.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const images = join(root, "docs", "images");
const program = join(root, "dist", "cli", "main.js");
/** `npm run screenshots -- window` makes only pictures whose name contains the word. */
const wanted = process.argv.slice(2);
const isWanted = ({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word));

const executablePath = findChromium();
if (executablePath === undefined) {
  process.stderr.write(`longhaul: ${CHROMIUM_REMEDY}.\n`);
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), "longhaul-pictures-"));
const env = {
  ...{ PATH: process.env.PATH, LANG: "C.UTF-8", TZ: "UTC" },
  ...{ HOME: folder, USERPROFILE: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
};
const browser = await chromium.launch({ executablePath, args: CHROMIUM_FLAGS });
try {
  mkdirSync(images, { recursive: true });
  await takePictures("empty", START_PICTURES);
  const edits = await fillStore(join(folder, "filled"));
  const filled = listFilledPictures({ edits });
  await takePictures("filled", filled);
  const tasks = startTasks(runLonghaul);
  try {
    await takePictures("filled", [TASKS_PICTURE]);
    // Short intervals, so that the curves of health have points after some seconds.
    await takePictures("filled", [HEALTH_PICTURE], { monitor: { intervalMs: 1_000 } });
  } finally {
    tasks.end();
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}

function runLonghaul(...args) {
  const options = { env: { ...env, LONGHAUL_HOME: join(folder, "filled") }, cwd: folder };
  return execFileSync(process.execPath, [program, ...args], { ...options, encoding: "utf8", stdio: "pipe" });
}

async function takePictures(store, pictures, config = {}) {
  const left = pictures.filter(isWanted);
  if (left.length === 0) return;
  const gateway = await startGateway(join(folder, store), config);
  try {
    for (const picture of left) await takePicture(gateway.url, picture);
  } finally {
    gateway.process.kill();
  }
}

async function startGateway(store, config) {
  mkdirSync(store, { recursive: true });
  writeFileSync(join(store, "longhaul.json"), JSON.stringify(config), { mode: 0o600 });
  const args = ["serve", "--json", "--port", "0", "--log", "error", "--upstream", "http://127.0.0.1:9"];
  const started = spawn(process.execPath, [program, ...args, "--store", store], {
    ...{ cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] },
  });
  for await (const chunk of started.stdout.setEncoding("utf8")) {
    const line = chunk.split("\n").find((one) => one.includes('"listening"'));
    if (line) return { url: JSON.parse(line).url, process: started };
  }
  throw new Error("The gateway did not start.");
}

async function takePicture(url, { name, path, theme = "light", element, prepare, ...rest }) {
  const { width = 1_180, height = 820, locale = "en-US", scale = 1 } = rest;
  const context = await browser.newContext({
    viewport: { width, height },
    ...{ deviceScaleFactor: scale, colorScheme: theme },
    ...{ locale, timezoneId: "UTC", reducedMotion: "reduce" },
  });
  const page = await context.newPage();
  await page.goto(url + path);
  await page.locator(element).first().waitFor({ timeout: 60_000 });
  await prepare?.(page, { url });
  await page.mouse.move(0, 0);
  // The browser draws a chart one frame after it is there.
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
  const picture = optimizePng(await page.screenshot({ animations: "disabled" }));
  writeFileSync(join(images, `${name}.png`), picture);
  process.stdout.write(`docs/images/${name}.png ${picture.length} bytes\n`);
  await context.close();
}
