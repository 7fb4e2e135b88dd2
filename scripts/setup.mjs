// Makes a new clone runnable: installs dependencies, then builds the package. Runs on any Node that npm runs on,
// because it installs the Node that the project itself uses. Quick if nothing changed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

function hashOf(paths) {
  const hash = createHash("sha256");
  for (const path of paths)
    if (existsSync(join(root, path))) hash.update(path).update(readFileSync(join(root, path)));
  return hash.digest("hex");
}

function run(command, args, purpose) {
  process.stderr.write(`longhaul: ${purpose}…\n`);
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (result.status !== 0) {
    process.stderr.write(
      `longhaul: ${purpose} failed (${command} ${args.join(" ")}, exit ${result.status ?? result.error}).\n`,
    );
    process.exit(1);
  }
}

/** Runs `make` unless the stamp shows that it already ran for exactly these inputs. */
function once(stampPath, inputs, make) {
  const stamp = join(root, stampPath);
  const wanted = hashOf(inputs);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  rmSync(stamp, { force: true });
  make();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
}

const listSources = (folder) =>
  readdirSync(join(root, folder), { recursive: true })
    .map((path) => join(folder, String(path)))
    .filter((path) => /\.(?:tsx?|css|html|svg|json)$/.test(path))
    .sort();
const sources = [...listSources("src"), ...listSources("web")];

once("node_modules/.longhaul-installed", ["package.json", "package-lock.json"], () => {
  // Other versions of npm write other rows into the lock file; a clone stays as it was.
  const lock = join(root, "package-lock.json");
  const before = existsSync(lock) ? readFileSync(lock) : undefined;
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], "installing dependencies");
  if (before && !before.equals(readFileSync(lock))) writeFileSync(lock, before);
});

once(
  "dist/.longhaul-built",
  [...sources, "models/embedder/static.bin", "scripts/build.mjs", "tsconfig.json", "tsconfig.build.json"],
  () => {
    const node = join(root, "node_modules", ".bin", process.platform === "win32" ? "node.cmd" : "node");
    run(node, [join(root, "scripts", "build.mjs")], "building");
  },
);
