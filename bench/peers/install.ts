import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { problemOf } from "./problem-of.ts";

/** A peer that must be installed before it can take part. */
export type PeerName = keyof typeof MAIN_PACKAGES;

/** The installed version of each peer, or the reason it cannot take part. */
export type Peers = Record<PeerName, string | Error>;

const MAIN_PACKAGES = {
  pi: "@earendil-works/pi-coding-agent",
  mastra: "@mastra/memory",
  langgraph: "@langchain/langgraph",
  portkey: "@portkey-ai/gateway",
} as const;

const STAMP = here("node_modules/.checked");

/** Installs the peers if needed and checks that each one works. */
export async function ensurePeers(
  onProgress: (line: string) => void = () => {},
  timeoutMs = 10 * 60_000,
): Promise<Peers> {
  const wanted = await fingerprint();
  if ((await readFile(STAMP, "utf8").catch(() => "")) === wanted) return eachPeer(installedVersion);
  const deadline = AbortSignal.timeout(timeoutMs);
  onProgress("Installing the peers (once, about 400 MB in bench/peers/node_modules) ...");
  const failure = await install(onProgress, deadline);
  const peers = await eachPeer(async (name) => failure ?? (await check(name, onProgress, deadline)));
  if (Object.values(peers).every((peer) => typeof peer === "string")) await writeFile(STAMP, wanted);
  return peers;
}

/** Hash of everything that determines node_modules; native parts differ between platforms. */
async function fingerprint(): Promise<string> {
  const hash = createHash("sha256").update(`${process.platform}-${process.arch}`);
  for (const file of ["package.json", "package-lock.json"]) hash.update(await readFile(here(file)));
  return hash.digest("hex");
}

async function install(
  onProgress: (line: string) => void,
  deadline: AbortSignal,
): Promise<Error | undefined> {
  // `ci` does not change the lock file. No peer needs an install script: native parts come prebuilt.
  const args = [
    "ci",
    "--ignore-scripts",
    "--include=optional",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  // npm omits peers that do not support the Node it runs on, so it must run on the Node of the bench.
  const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };
  const npm = spawn("npm", [...args, "--prefix", here(".")], {
    ...limitedBy(deadline),
    cwd: here("."),
    env,
    shell: process.platform === "win32",
  });
  const problem = await problemOf(npm, /^npm error (?!code )(\S.*)/, onProgress);
  return problem === undefined ? undefined : new Error(`The peers could not be installed: ${problem}`);
}

async function check(
  name: PeerName,
  onProgress: (line: string) => void,
  deadline: AbortSignal,
): Promise<string | Error> {
  const version = await installedVersion(name);
  if (version instanceof Error) return version;
  onProgress(`Checking ${name} ${version} ...`);
  const child = spawn(process.execPath, [here("check-peer.ts"), name], limitedBy(deadline));
  const problem = await problemOf(child, /^(?:Uncaught )?((?:\w*Error|.*Assertion failed)\b.*)/, () => {});
  return problem === undefined ? version : new Error(`${name} ${version} does not work here: ${problem}`);
}

function limitedBy(deadline: AbortSignal) {
  return { signal: deadline, killSignal: "SIGKILL" } as const;
}

/** The version of a peer in this folder, or an error if it is not installed. */
export async function installedVersion(name: PeerName): Promise<string | Error> {
  try {
    const text = await readFile(here(`node_modules/${MAIN_PACKAGES[name]}/package.json`), "utf8");
    return (JSON.parse(text) as { version: string }).version;
  } catch {
    return new Error(
      `${name} is missing: npm could not fetch ${MAIN_PACKAGES[name]}, or it does not fit this machine.`,
    );
  }
}

async function eachPeer(read: (name: PeerName) => Promise<string | Error>): Promise<Peers> {
  const names = ["pi", "mastra", "langgraph", "portkey"] as const;
  const [pi, mastra, langgraph, portkey] = await Promise.all(names.map(read));
  if (!pi || !mastra || !langgraph || !portkey) throw new Error("A peer was not read.");
  return { pi, mastra, langgraph, portkey };
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
