// Installs Debian's Chromium for the tests of the dashboard, where that is possible: as root, with apt, and none is
// found. A failure is no error: those tests are then skipped, and each says what to install.
import { spawnSync } from "node:child_process";
import { findChromium } from "./find-chromium.mjs";

const PACKAGES = ["chromium", "fonts-dejavu-core", "fonts-wqy-zenhei"];

function runApt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync("apt-get", args, { env, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" });
}

function install() {
  process.stderr.write("longhaul: installing chromium for the tests of the dashboard…\n");
  const args = ["install", "-y", "--no-install-recommends", ...PACKAGES];
  let done = runApt(...args);
  if (done.status !== 0) {
    runApt("update");
    done = runApt(...args);
  }
  if (done.status === 0) return;
  const reason = (done.stderr ?? String(done.error)).slice(-400);
  process.stderr.write(
    `longhaul: chromium was not installed; the tests of the dashboard are skipped.\n${reason}\n`,
  );
}

const hasApt = runApt("--version").status === 0;
if (findChromium() === undefined && process.getuid?.() === 0 && hasApt) install();
