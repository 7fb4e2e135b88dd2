// Makes the pictures of docs/images from the sample conversation of an empty store, in a home folder without agents:
// nothing of the person who runs it is in them.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { CHROMIUM_FLAGS, CHROMIUM_REMEDY, findChromium } from "./find-chromium.mjs";
import { optimizePng } from "./optimize-png.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const images = join(root, "docs", "images");
const SESSION = "longhaul-sample";

/** Address, name of the picture, an element that shows that the page is complete, and the theme. */
const PICTURES = [
  ["/", "dashboard-start", ".chart canvas", "light"],
  ["/", "dashboard-start-dark", ".chart canvas", "dark"],
  [`/sessions/${SESSION}`, "dashboard-conversation", "main .markdown p", "light"],
  [`/sessions/${SESSION}/window`, "dashboard-window", ".chart canvas", "light"],
];

const executablePath = findChromium();
if (executablePath === undefined) {
  process.stderr.write(`longhaul: ${CHROMIUM_REMEDY}.\n`);
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), "longhaul-pictures-"));
const { url, process: gateway } = await startGateway();
const browser = await chromium.launch({ executablePath, args: CHROMIUM_FLAGS });
try {
  mkdirSync(images, { recursive: true });
  for (const [path, name, element, colorScheme] of PICTURES)
    await takePicture(path, name, element, colorScheme);
} finally {
  await browser.close();
  gateway.kill();
  rmSync(folder, { recursive: true, force: true });
}

async function startGateway() {
  const args = ["dist/cli/main.js", "serve", "--json", "--port", "0", "--store", join(folder, "store")];
  const started = spawn(process.execPath, [...args, "--log", "error", "--upstream", "http://127.0.0.1:9"], {
    cwd: root,
    env: {
      ...process.env,
      HOME: folder,
      USERPROFILE: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const chunk of started.stdout.setEncoding("utf8")) {
    const line = chunk.split("\n").find((one) => one.includes('"listening"'));
    if (line) return { url: JSON.parse(line).url, process: started };
  }
  throw new Error("The gateway did not start.");
}

async function takePicture(path, name, element, colorScheme) {
  const context = await browser.newContext({
    viewport: { width: 1_180, height: 820 },
    ...{ colorScheme, locale: "en-US", timezoneId: "UTC", reducedMotion: "reduce" },
  });
  const page = await context.newPage();
  await page.goto(url + path);
  const isShown = await page
    .locator(element)
    .first()
    .waitFor({ timeout: 60_000 })
    .then(
      () => true,
      () => false,
    );
  if (isShown) {
    // The browser draws the chart one frame after it is there.
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    const picture = optimizePng(await page.screenshot({ animations: "disabled" }));
    writeFileSync(join(images, `${name}.png`), picture);
    process.stdout.write(`docs/images/${name}.png ${picture.length} bytes\n`);
  } else process.stderr.write(`longhaul: ${path} has no ${element}; ${name}.png was not made.\n`);
  await context.close();
}
