// Finds a Chromium: LONGHAUL_CHROMIUM, a program on the path, or a usual place.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
];
const PLACES = [
  "/usr/bin/chromium",
  "/usr/lib/chromium/chromium",
  "/snap/bin/chromium",
  "/opt/google/chrome/chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe",
];

/** Options for a start without a screen and without requests of the browser's own. */
export const CHROMIUM_FLAGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--force-color-profile=srgb",
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
];

export const CHROMIUM_REMEDY =
  "no Chromium found: run 'apt-get install chromium' as root, or set LONGHAUL_CHROMIUM to the path of Chromium or Chrome";

export function findChromium(env = process.env) {
  if (env.LONGHAUL_CHROMIUM) return env.LONGHAUL_CHROMIUM;
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const onPath = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...onPath, ...PLACES].find((path) => existsSync(path));
}
