import { execFileSync, spawn } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { findPostgresBinaries } from "./postgres-binaries.ts";

/** A running PgBouncer. */
export interface Pgbouncer {
  /** The server's URL by way of PgBouncer. */
  readonly url: string;
  stop(): Promise<void>;
}

/** The program of PgBouncer, or a sentence that says why there is none. */
export function findPgbouncer(): { readonly path: string } | { readonly problem: string } {
  for (const path of ["/usr/sbin/pgbouncer", "pgbouncer"]) {
    try {
      execFileSync(path, ["--version"], { stdio: "ignore" });
      return { path };
    } catch {
      // Not in this place.
    }
  }
  return { problem: "pgbouncer is not installed" };
}

/** Starts PgBouncer in transaction mode in front of a server that trusts local users. */
export async function startPgbouncer(path: string, serverUrl: string): Promise<Pgbouncer> {
  const server = new URL(serverUrl);
  const folder = mkdtempSync(join(tmpdir(), "longhaul-pgbouncer-"));
  const binaries = findPostgresBinaries();
  const runAs = typeof binaries === "string" ? {} : binaries.runAs;
  if (runAs.uid !== undefined && runAs.gid !== undefined) chownSync(folder, runAs.uid, runAs.gid);
  const port = await findFreePort();
  const users = join(folder, "users.txt");
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(users, `"${server.username}" ""\n`, { mode: 0o644 });
  const lines = [
    "[databases]",
    `* = host=${server.hostname} port=${server.port}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = trust",
    `auth_file = ${users}`,
    "pool_mode = transaction",
    "default_pool_size = 5",
    "max_client_conn = 500",
  ];
  writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o644 });
  const child = spawn(path, [file], { ...runAs, stdio: "ignore" });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const url = new URL(serverUrl);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  const stop = async () => {
    child.kill("SIGTERM");
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let round = 0; round < 600; round++) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
    if (await isReady(url.href)) return { url: url.href, stop };
    await sleep(50);
  }
  await stop();
  throw new Error("pgbouncer did not become ready within 30 s");
}

async function isReady(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
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
