import { execFileSync, spawn } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { findPostgresBinaries, type PostgresBinaries } from "./postgres-binaries.ts";

/** A PostgreSQL server of our own. */
export interface PostgresServer {
  readonly url: string;
  readonly pid: number;
  readonly folder: string;
  /** Stops at once without a checkpoint, as after a crash, and starts again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface ServerOptions {
  /** False (default): crashes of the machine may lose data, crashes of the server do not. */
  readonly fsync?: boolean;
  /** Lets the server outlive this process; `stopServer` ends it. */
  readonly isDetached?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts an empty server on a free port; rejects with a sentence if it cannot be had. */
export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const binaries = findPostgresBinaries();
  if (typeof binaries === "string") throw new Error(binaries);
  const folder = mkdtempSync(join(tmpdir(), "longhaul-postgres-"));
  const { uid, gid } = binaries.runAs;
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  const data = join(folder, "data");
  const flags = ["--no-sync", "--no-instructions", "--auth=trust", "--username=longhaul", "--encoding=UTF8"];
  execFileSync(binaries.initdb, [`--pgdata=${data}`, "--locale=C", ...flags], {
    ...binaries.runAs,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const port = await findFreePort();
  const url = `postgres://longhaul@127.0.0.1:${port}/postgres`;
  let pid = await launch(binaries, data, port, options, url);
  return {
    url,
    folder,
    get pid() {
      return pid;
    },
    restart: async () => {
      await stopServer(pid, "SIGQUIT");
      pid = await launch(binaries, data, port, options, url);
    },
    stop: async () => {
      await stopServer(pid, "SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function launch(
  { postgres, runAs }: PostgresBinaries,
  data: string,
  port: number,
  options: ServerOptions,
  url: string,
): Promise<number> {
  const settings = {
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    fsync: options.fsync ? "on" : "off",
    max_connections: "200",
    shared_buffers: "64MB",
    ...options.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(postgres, ["-D", data, ...flags], {
    ...runAs,
    cwd: data,
    detached: options.isDetached ?? false,
    stdio: "ignore",
  });
  if (options.isDetached) server.unref();
  let isGone = false;
  server.once("exit", () => {
    isGone = true;
  });
  for (let round = 0; round < 600; round++) {
    if (isGone) throw new Error("PostgreSQL ended while it was starting");
    if (await isReady(url)) return server.pid as number;
    await sleep(50);
  }
  throw new Error("PostgreSQL did not become ready within 30 s");
}

async function isReady(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Ends a server by its process id and waits until it is gone. */
export async function stopServer(pid: number, signal: "SIGINT" | "SIGQUIT" = "SIGINT"): Promise<void> {
  try {
    process.kill(pid, signal);
  } catch {
    return;
  }
  for (let round = 0; round < 600; round++) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await sleep(20);
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
