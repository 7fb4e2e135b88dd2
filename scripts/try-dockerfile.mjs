// Runs the steps of the Dockerfile without a container engine: in an empty folder, as another user where this one is the
// superuser, then starts the gateway as the image would and asks its health check. Proves the steps, not the images that
// they begin with. `node scripts/try-dockerfile.mjs [folder]`; the folder must not exist.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
const NOBODY = 65_534;
const other = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;
const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "dockerfile-"));
mkdirSync(folder, { recursive: true });
if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
chmodSync(folder, 0o755);

const steps = readFileSync(join(repository, "Dockerfile"), "utf8")
  .replaceAll(/\\\n/g, " ")
  .split("\n")
  .filter((line) => line.trim() !== "" && !line.startsWith("#"))
  .map((line) => /^(\w+)\s+(.*)$/.exec(line)?.slice(1) ?? []);

const stages = new Map();
let stage;
for (const [instruction, text] of steps) {
  console.log(`${instruction} ${text.slice(0, 100)}`);
  if (instruction === "FROM") beginStage(text);
  else if (instruction === "WORKDIR") stage.workdir = makeFolder(inStage(text));
  else if (instruction === "COPY") copy(text.split(/\s+/));
  else if (instruction === "ENV")
    for (const [, name, value] of text.matchAll(/(\w+)=(\S+)/g)) stage.env[name] = inStage(value);
  else if (instruction === "RUN") run(text);
  else stage[instruction] = text;
}
await askHealth();
console.log(
  `Every step ran${other ? " as the user nobody" : ""}, and the gateway answers its health check: ${folder}`,
);

function beginStage(text) {
  const [image, , name = "image"] = text.split(/\s+/);
  const wanted = Number(/^node:(\d+)/.exec(image)?.[1]);
  const own = Number(process.versions.node.split(".")[0]);
  if (wanted !== own) throw new Error(`The image has Node ${wanted}, this is Node ${own}`);
  stage = { root: makeFolder(join(folder, name)), env: {} };
  stages.set(name, stage);
  for (const path of ["tmp", "root", "usr/local/lib"]) makeFolder(join(stage.root, path));
  stage.workdir = stage.root;
}

/** Paths of the image become paths below the folder of the stage. */
function inStage(text, { root } = stage) {
  return text.replaceAll(/(^|[\s="'])(\/(?:tmp|root|data|source|usr\/local)(?=[/\s"']|$))/g, `$1${root}$2`);
}

function copy(words) {
  const from = words[0]?.startsWith("--from=")
    ? stages.get(words.shift().slice("--from=".length))
    : undefined;
  const target = inStage(words.pop()).replace(/^\.\/?$/, `${stage.workdir}/`);
  for (const word of words) {
    if (from) for (const path of globSync(inStage(word, from))) give(path, join(target, basename(path)));
    else if (word !== ".") give(join(repository, word), join(target.replace(/^\./, stage.workdir), word));
    else for (const path of listContext()) give(join(repository, path), join(target, path));
  }
}

/** The files that an engine would send: those that git knows, as .dockerignore leaves out only what git ignores. */
function listContext() {
  const { stdout } = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: repository,
    encoding: "utf8",
  });
  return stdout.split("\n").filter((path) => path !== "" && existsSync(join(repository, path)));
}

function give(from, to) {
  makeFolder(dirname(to));
  cpSync(from, to);
  chmodSync(to, statSync(from).mode & 0o755);
  if (other) lchownSync(to, other.uid, other.gid);
}

function makeFolder(path) {
  const first = mkdirSync(path, { recursive: true });
  if (other && first)
    for (let one = path; one.length >= first.length; one = dirname(one))
      lchownSync(one, other.uid, other.gid);
  return path;
}

function environment() {
  const registry = spawnSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).stdout.trim();
  return {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: join(stage.root, "root"),
    TMPDIR: join(stage.root, "tmp"),
    npm_config_registry: registry,
    // The other user may not read the certificates and settings of this one.
    ...(process.env.NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS }),
    npm_config_fetch_retries: "1",
    npm_config_fetch_timeout: "60000",
    npm_config_cache: join(stage.root, "root/.npm"),
    npm_config_prefix: join(stage.root, "usr/local"),
    ...stage.env,
  };
}

function run(text) {
  const user = other?.uid ?? process.getuid?.();
  const command = inStage(text).replaceAll("node:node", `${user}`);
  const { status } = spawnSync("sh", ["-ec", command], {
    cwd: stage.workdir,
    env: environment(),
    stdio: ["ignore", "ignore", "inherit"],
    ...other,
  });
  if (status !== 0) throw new Error(`This step ended with ${status}: ${text}`);
}

/** Starts the gateway with entry point and command of the image on a free port, and runs the image's health check. */
async function askHealth() {
  const port = await findFreePort();
  const words = [...JSON.parse(stage.ENTRYPOINT), ...JSON.parse(stage.CMD)].map((word) => inStage(word));
  const env = { ...environment(), LONGHAUL_PORT: `${port}`, LONGHAUL_TOKEN: randomBytes(32).toString("hex") };
  const gateway = spawn(words[0], words.slice(1), { cwd: stage.workdir, env, stdio: "ignore", ...other });
  const [, check] = /CMD (\[.*\])$/.exec(stage.HEALTHCHECK) ?? [];
  const [program, ...args] = JSON.parse(check).map((word) => word.replaceAll("4747", `${port}`));
  try {
    for (let round = 0; round < 60; round++) {
      if (spawnSync(program, args, { env, timeout: 3_000 }).status === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    throw new Error("The gateway did not answer within 30 s");
  } finally {
    gateway.kill("SIGTERM");
  }
}

function findFreePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
