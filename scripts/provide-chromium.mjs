// Installs Debian's Chromium for the tests of the dashboard, where that is possible: as root, with apt, and none is
// found. A failure is no error: those tests are then skipped, and each says what to install.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
const has = (names) => folders.some((folder) => names.some((name) => existsSync(join(folder, name))));

function install() {
  process.stderr.write("longhaul: installing chromium for the tests of the dashboard…\n");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const run = (...args) =>
    spawnSync("apt-get", args, { env, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" });
  const args = [
    "install",
    "-y",
    "--no-install-recommends",
    "chromium",
    "fonts-dejavu-core",
    "fonts-wqy-zenhei",
  ];
  let done = run(...args);
  if (done.status !== 0) {
    run("update");
    done = run(...args);
  }
  if (done.status !== 0)
    process.stderr.write(
      `longhaul: chromium was not installed; the tests of the dashboard are skipped.\n${(done.stderr ?? "").slice(-400)}\n`,
    );
}

const isRoot = process.getuid?.() === 0;
if (!process.env.LONGHAUL_CHROMIUM && !has(NAMES) && isRoot && has(["apt-get"])) install();
