import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { z } from "zod";
import { LonghaulError } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { findNearestWords } from "../../../model/edit-distance.ts";
import { getConfigSchemaJson } from "./config.ts";

const LISTENING = "0A";

/** One problem of the configuration. */
export interface ConfigProblem {
  /** A key such as upstreams[1].baseUrl, an option or a variable. */
  readonly key: string;
  /** The given value, the problem, and the expected value. */
  readonly message: string;
}

/** The error for an unusable configuration, with all its problems. */
export class ConfigInvalidError extends LonghaulError {
  readonly problems: readonly ConfigProblem[];

  constructor(message: string, problems: readonly ConfigProblem[], path: string | undefined) {
    const keys = problems.map(({ key }) => key).join(", ");
    const details = { problems: problems.length, keys, ...dropUndefined({ path }) };
    super("CONFIG_INVALID", message, { details });
    this.problems = problems;
  }
}

/** Combines all problems into one error. */
export function createConfigInvalidError(
  problems: readonly ConfigProblem[],
  path?: string,
): ConfigInvalidError {
  const [first] = problems;
  const place = path === undefined ? "" : ` (${path})`;
  const message =
    problems.length === 1
      ? `The configuration is not valid${place}: ${first?.message}`
      : `The configuration has ${problems.length} problems${place}:\n${problems.map((one) => `- ${one.message}`).join("\n")}`;
  return new ConfigInvalidError(message, problems, path);
}

/** A path into the configuration in written form, such as upstreams[1].baseUrl. */
function formatKey(path: readonly PropertyKey[]): string {
  return path.reduce<string>((key, step) => {
    if (typeof step === "number") return `${key}[${step}]`;
    if (!/^[$\w]+$/.test(String(step))) return `${key}[${JSON.stringify(String(step))}]`;
    return key === "" ? String(step) : `${key}.${String(step)}`;
  }, "");
}

/** The option or variable that a value was given by, if not by its key in the file. */
export interface ValueOrigin {
  readonly label: string;
  /** The expected value, if it differs from that in the file. */
  readonly expected?: string;
}

type Issue = z.core.$ZodIssue;

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly propertyNames?: { readonly enum?: readonly string[] };
}

/** Schema issues as messages for people. `given` holds the values from options and variables, by key. */
export function toConfigProblems(
  issues: readonly Issue[],
  raw: unknown,
  given: ReadonlyMap<string, ValueOrigin>,
): readonly ConfigProblem[] {
  return issues.flatMap((issue): readonly ConfigProblem[] => {
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => describeUnknownKey(issue.path, key));
    const inner = issue.code === "invalid_key" ? issue.issues[0]?.message : undefined;
    const name = formatKey(issue.path);
    const as = given.get(name);
    const key = as?.label ?? (name === "" ? "the file" : name);
    const expected = as?.expected ?? inner ?? issue.message;
    const value = inner === undefined ? describeValue(raw, issue.path) : "a key that cannot be";
    return [{ key, message: `${key} is ${value}; expected ${expected}.` }];
  });
}

function describeUnknownKey(path: readonly PropertyKey[], key: string): ConfigProblem {
  const known = listKnownKeys(path).filter((one) => one !== "$schema");
  const [nearest] = findNearestWords(key, known);
  const hint =
    nearest === undefined
      ? `there are ${known.join(", ")}.`
      : `did you mean ${nearest}? Otherwise take it out.`;
  const secret = /token|key|secret|password/i.test(key)
    ? " Secrets are never written here: name the variable that holds them."
    : "";
  const place = path.length === 0 ? "there is no setting" : `${formatKey(path)} has no setting`;
  return { key: formatKey([...path, key]), message: `${place} ${JSON.stringify(key)}; ${hint}${secret}` };
}

function listKnownKeys(path: readonly PropertyKey[]): readonly string[] {
  const node = path.reduce<SchemaNode | undefined>((above, step) => {
    const other = typeof above?.additionalProperties === "object" ? above.additionalProperties : undefined;
    return typeof step === "number" ? above?.items : (above?.properties?.[String(step)] ?? other);
  }, getConfigSchemaJson());
  return Object.keys(node?.properties ?? {}).concat(node?.propertyNames?.enum ?? []);
}

/** A value for display, without possible secrets. */
function describeValue(raw: unknown, path: readonly PropertyKey[]): string {
  if (path[0] === "tokens" && path.length > 2) return "something else";
  let value: unknown = raw;
  for (const step of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[step];
  if (value === undefined) return "missing";
  if (typeof value === "string") {
    return JSON.stringify(value.replace(/\/\/[^@/]*@/, "//…@").slice(0, 80));
  }
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

/** The error for an address that cannot be listened on, with advice; undefined for failures of another kind. */
export function toListenError(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): LonghaulError | undefined {
  const { code } = error instanceof Error ? (error as NodeJS.ErrnoException) : { code: undefined };
  const about = (key: string, message: string) => createConfigInvalidError([{ key, message }]);
  if (code === "EADDRINUSE") {
    const pid = findListener(port);
    const owner = pid === undefined ? "" : ` by ${describeProgram(pid)} (process ${pid})`;
    return new LonghaulError(
      "PORT_TAKEN",
      `Port ${port} on ${host} is taken${owner}; end that program, or choose another port: --port 0 takes any that is free.`,
      { cause: error, details: { host, port, ...dropUndefined({ pid }) } },
    );
  }
  if (code === "EACCES")
    return about(
      "port",
      `port is ${port}, which this user may not listen on; choose one from 1024 on, or --port 0.`,
    );
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return about(
      "host",
      `host is ${JSON.stringify(host)}, which is no address of this computer; 127.0.0.1 is.`,
    );
  return undefined;
}

/** The process that listens on a port; undefined if the system does not tell, as of other users' processes. */
function findListener(port: number): number | undefined {
  if (process.platform === "win32") return undefined;
  try {
    if (process.platform === "linux") return findSocketOwner(listSockets(port));
    const args = ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fp"];
    return (
      Number(/^p(\d+)$/m.exec(execFileSync("lsof", args, { encoding: "utf8", timeout: 2_000 }))?.[1]) ||
      undefined
    );
  } catch {
    return undefined;
  }
}

/** The sockets that listen on a port, as links in /proc name them. */
function listSockets(port: number): ReadonlySet<string> {
  const tables = ["tcp", "tcp6"].flatMap((name) => readProc(`net/${name}`).split("\n").slice(1));
  const rows = tables.map((line) => line.trim().split(/\s+/));
  const isOnPort = (local = "") => Number.parseInt(local.split(":")[1] ?? "", 16) === port;
  const own = rows.filter(([, local, , state]) => state === LISTENING && isOnPort(local));
  return new Set(own.map((fields) => `socket:[${fields[9]}]`));
}

function findSocketOwner(sockets: ReadonlySet<string>): number | undefined {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const holds = (pid: string) =>
    listFolder(`/proc/${pid}/fd`).some((fd) => sockets.has(readLink(`/proc/${pid}/fd/${fd}`)));
  return sockets.size === 0 ? undefined : Number(pids.find(holds)) || undefined;
}

/** Names the program of a process, without its arguments, which may hold secrets. */
function describeProgram(pid: number): string {
  const words = readProc(`${pid}/cmdline`).split("\0");
  if (words.includes("serve") && words.some((word) => /longhaul|cli\/main\.[jt]s$/.test(word)))
    return "a longhaul gateway";
  return readProc(`${pid}/comm`).trim() || "another program";
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}

function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
