import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { problemOf } from "../bench/peers/problem-of.ts";
import type { Agent } from "./agents/agent.ts";

const INSTALL_MS = 10 * 60_000;

/** The folder of an agent's package, installed on first use; throws with the reason if that fails. */
export async function ensureInstalled(agent: Agent, onProgress: (line: string) => void): Promise<string> {
  const known = findInstalled(agent);
  if (known !== undefined) return known;
  const folder = join(cacheFolder(), folderName(agent));
  onProgress(`Installing ${agent.packageName} ${agent.version} (once) ...`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
  // Platform programs come as separate packages; no third-party install script is run.
  const args = [
    "install",
    "--ignore-scripts",
    "--include=optional",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  const npm = spawn("npm", [...args, `${agent.packageName}@${agent.version}`, ...(agent.alongside ?? [])], {
    cwd: folder,
    env: { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) },
    signal: AbortSignal.timeout(INSTALL_MS),
    killSignal: "SIGKILL",
  });
  const problem = await problemOf(npm, /^npm error (?!code )(\S.*)/, () => {});
  if (problem !== undefined) throw new Error(`it could not be installed: ${problem}`);
  await writeFile(join(folder, ".installed"), "");
  return folder;
}

/** The folder of an agent's package; undefined if it has not been installed yet. */
export function findInstalled(agent: Agent): string | undefined {
  const folder = join(cacheFolder(), folderName(agent));
  return existsSync(join(folder, ".installed")) ? folder : undefined;
}

/** Cache folder of agents between runs: about 3 GB for all of them. */
export function cacheFolder(): string {
  const { LONGHAUL_CLIENTS, XDG_CACHE_HOME } = process.env;
  return LONGHAUL_CLIENTS || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "longhaul", "clients");
}

function folderName({ packageName, version }: Agent): string {
  return `${packageName.replace(/^@/, "").replace("/", "-")}-${version}-${process.platform}-${process.arch}`;
}
