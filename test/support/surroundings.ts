import { ChildProcess, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { type ListenOptions, Server, Socket, type SocketConnectOpts } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/**
 * Makes the surroundings of a test its own, so that none depends on the machine: home, configuration, variables, time
 * zone, language, ports, permissions of new files and the first `node` on PATH. Vitest's configuration runs this for the
 * whole run, and each test file for itself. Children inherit it.
 */

/** Variables that tests and the tools they start may see: where programs and certificates are, and switches of the suite. */
const KEPT = [
  /^(?:PATH|TMPDIR|TMP|TEMP|SHELL|PYENV_ROOT|VIRTUAL_ENV|NODE_COMPILE_CACHE|NODE_ENV)$/i,
  /^(?:SystemRoot|SystemDrive|windir|ComSpec|PATHEXT|ProgramFiles.*|PROCESSOR_.*|NUMBER_OF_PROCESSORS)$/i,
  /^(?:VITEST.*|TEST|MODE|DEV|PROD|SSR|BASE_URL)$/,
  /^(?:SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|PIP_CERT|npm_config_(?:registry|cache|userconfig))$/,
  /^LONGHAUL_(?:PROOF|SEED|WORKERS|SOAK.*|TEST_.*|DATA|SCHEDULES|CHROMIUM)$/,
];
/** Only the reporter may see these. */
const REPORTER = /^(?:TERM|COLORTERM|FORCE_COLOR|NO_COLOR|CI|GITHUB_ACTIONS|COLUMNS)$/;
/** The folder of the run, which holds a home for each test file. */
const RUN = "LONGHAUL_TEST_RUN";
/** A disk in memory, where the hundreds of new stores of a run do not wait for the machine's disk. */
const MEMORY_DISK = "/dev/shm";
/** More than a run has ever held at once. */
const RUN_SIZE_BYTES = 8 * 1024 ** 3;

const isReporter = process.env.VITEST_WORKER_ID === undefined;
for (const name of Object.keys(process.env))
  if (!KEPT.some((kept) => kept.test(name)) && !(isReporter && REPORTER.test(name))) delete process.env[name];

if (!process.env[RUN]) {
  if (process.env.TMPDIR === undefined && canHoldTests(MEMORY_DISK)) process.env.TMPDIR = MEMORY_DISK;
  const folder = mkdtempSync(join(tmpdir(), "longhaul-tests-"));
  process.env[RUN] = folder;
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
}
const run = process.env[RUN] as string;
mkdirSync(run, { recursive: true });
const home = mkdtempSync(join(run, "home-"));
Object.assign(process.env, { HOME: home, USERPROFILE: home, TZ: "UTC", LC_ALL: "C.UTF-8", LANG: "C.UTF-8" });
process.umask(0o022);
const node = dirname(process.execPath);
if (!process.env.PATH?.startsWith(node)) process.env.PATH = [node, process.env.PATH].join(delimiter);
if (!isReporter) {
  guardPorts();
  guardHomes();
}

/** True when a folder and the memory behind it have room for a run, and programs can be started from there. */
function canHoldTests(folder: string): boolean {
  let probe: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (Math.min(bavail * bsize, process.availableMemory()) < RUN_SIZE_BYTES) return false;
    probe = mkdtempSync(join(folder, "longhaul-probe-"));
    const program = join(probe, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
    return spawnSync(program).status === 0;
  } catch {
    return false;
  } finally {
    if (probe) rmSync(probe, { recursive: true, force: true });
  }
}

/** True for ports that programs are known by, such as a gateway's 4747; the system gives out higher ones. */
function isFixed(port: unknown): boolean {
  const number = Number(port);
  return number >= 1_024 && number < 10_000;
}

/** A test that listens on a fixed port fails, and nothing answers on one, whatever runs on this machine. */
function guardPorts(): void {
  const { listen } = Server.prototype;
  if (listen.name === "listenGuarded") return;
  Server.prototype.listen = function listenGuarded(this: Server, ...args: unknown[]) {
    const [first] = args as [ListenOptions | number | undefined];
    const port = typeof first === "object" ? first.port : first;
    if (isFixed(port)) throw new Error(`A test listens on port ${port}; take port 0.`);
    return Reflect.apply(listen, this, args);
  } as typeof listen;
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function connectGuarded(this: Socket, ...args: unknown[]) {
    const [first] = args as [SocketConnectOpts | number | unknown[]];
    const options = Array.isArray(first) ? first[0] : first;
    const { port, host } =
      typeof options === "object" && options !== null
        ? (options as { port?: unknown; host?: string })
        : { port: options };
    if (!isFixed(port)) return Reflect.apply(connect, this, args);
    const facts = { code: "ECONNREFUSED", syscall: "connect", address: host ?? "127.0.0.1", port };
    const error = Object.assign(new Error(`connect ECONNREFUSED ${facts.address}:${port}`), facts);
    process.nextTick(() => this.destroy(error));
    return this;
  } as typeof connect;
}

/** A child whose variables name no home gets the test's, because it would read that of the machine's user. */
function guardHomes(): void {
  const prototype = ChildProcess.prototype as unknown as {
    spawn(options: { envPairs?: string[] }): number;
  };
  const { spawn } = prototype;
  if (spawn.name === "spawnGuarded") return;
  prototype.spawn = function spawnGuarded(options) {
    const { envPairs } = options;
    if (envPairs && !envPairs.some((pair) => pair.startsWith("HOME="))) {
      const { HOME } = process.env;
      envPairs.push(`HOME=${HOME}`, `USERPROFILE=${HOME}`);
    }
    return Reflect.apply(spawn, this, [options]);
  };
}
