import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./pages.ts";

/** Result of a program. */
export interface ProgramRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const NO_NETWORK = new URL("./no-network.mjs", import.meta.url).href;

/** Files that programs of the pages read. */
const FILES: Readonly<Record<string, string>> = {
  "package.json": '{ "type": "module" }',
  "old-chats/chat.json": '{ "messages": [{ "role": "user", "content": "Which mountain is the highest?" }] }',
  "docs/deploy.md": "The staging server listens on port 7781.\n",
};

/** A git repository in which `longhaul` resolves to the built package, with some files. */
export function createProject(parent: string): string {
  const folder = join(parent, "app");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(root, join(folder, "node_modules", "longhaul"), "dir");
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const identity = ["-c", "user.name=reader", "-c", "user.email=reader@example.com"];
  execFileSync("git", ["init", "--quiet"], { cwd: folder });
  execFileSync("git", ["add", "docs"], { cwd: folder });
  execFileSync("git", [...identity, "commit", "--quiet", "-m", "Start"], { cwd: folder });
  return folder;
}

/** Runs a file of the folder in a child process: offline, without keys, with its store in the folder. */
export function runFile(folder: string, file: string): ProgramRun {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", NO_NETWORK, file], {
    cwd: folder,
    encoding: "utf8",
    timeout: 60_000,
    env: { PATH: process.env.PATH, HOME: folder, LONGHAUL_HOME: join(folder, "home") },
  });
  return { exitCode: status, stdout: stdout.trim(), stderr };
}
