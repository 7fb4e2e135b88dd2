import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { openKernel } from "../src/kernel/index.ts";

/** A conversation in the gateway's store. */
export interface StoredThread {
  readonly id: string;
  /** "main", or another purpose. */
  readonly kind: string;
  readonly entries: number;
}

/** A gateway in its own process. */
export interface RunningGateway {
  readonly url: string;
  /** Stops the gateway and waits for its exit; returns its log. */
  close(): Promise<string>;
  /** Sessions in its store; call after `close`, because the store has a single owner. */
  sessions(): Promise<readonly StoredThread[]>;
}

/** The gateway did not start. */
export class GatewayDown extends Error {}

const START_MS = 180_000;
const END_MS = 15_000;
const MAX_LOGGED = 4_000_000;
const MAIN = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));

/** Starts `longhaul serve` with its own store. */
export async function startGateway(options: {
  readonly upstream: string;
  readonly policy: string;
  readonly store: string;
  /** Any free port by default. */
  readonly port?: number | undefined;
}): Promise<RunningGateway> {
  const { upstream, policy, store, port = 0 } = options;
  const flags = [
    "--port",
    String(port),
    "--upstream",
    upstream,
    "--policy",
    policy,
    "--store",
    store,
    "--log",
    "debug",
  ];
  const child = spawn(process.execPath, [MAIN, "serve", "--json", ...flags], {
    cwd: store,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: store, LONGHAUL_HOME: store },
  });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  let logged = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    logged = (logged + text).slice(-MAX_LOGGED);
  });
  const ended = once(child, "close").finally(() => process.off("exit", kill));
  const listening = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const said = JSON.parse(line) as { readonly type?: string; readonly url?: string };
    if (said.type === "listening" && said.url !== undefined) listening.resolve(said.url);
  });
  void ended.then(() => listening.reject(new GatewayDown(`the gateway did not start: ${firstLine(logged)}`)));
  const late = setTimeout(kill, START_MS);
  const url = await listening.promise.finally(() => clearTimeout(late));
  return {
    url,
    async close() {
      const patience = setTimeout(kill, END_MS);
      child.kill("SIGTERM");
      await ended;
      clearTimeout(patience);
      return logged;
    },
    sessions: () => storedThreads(store),
  };
}

async function storedThreads(store: string): Promise<readonly StoredThread[]> {
  await using kernel = await openKernel({ path: store });
  const threads: StoredThread[] = [];
  for (const { id, meta } of await kernel.sessions({ limit: 200 })) {
    await using session = await kernel.session(id);
    const { kind } = (meta?.gateway ?? {}) as { readonly kind?: string };
    threads.push({ id, kind: kind ?? "unknown", entries: (await session.head()).seq });
  }
  return threads;
}

function firstLine(logged: string): string {
  return logged.split("\n").find((line) => line !== "") ?? "it said nothing";
}
