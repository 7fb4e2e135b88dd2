import { writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request as openRequest } from "node:http";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createMcpEndpoint } from "../../src/adapters/mcp/index.ts";
import {
  type Entry,
  type Kernel,
  openKernel,
  type Session,
  type SessionRecord,
} from "../../src/kernel/index.ts";
import {
  type Gateway,
  type GatewayConfig,
  type GatewayOptions,
  loadConfig,
  openGateway,
} from "../../src/server/gateway/index.ts";
import { eventually } from "./eventually.ts";
import { testFolder } from "./folder.ts";
import { GATEWAY_MODE, serveInTurns } from "./gateway-modes.ts";

/** Options of a test's gateway. */
export interface TestGatewayOptions {
  /** One address that accepts everything, or a list as in the configuration. */
  readonly upstream: string | readonly object[];
  /** Other settings, as in the configuration file. */
  readonly config?: { readonly limits?: object; readonly [setting: string]: unknown };
  /** The folder of the store; a new one by default. */
  readonly path?: string;
  /** The URL of a database instead of a folder. */
  readonly store?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** How long the store waits for a lock. */
  readonly busyTimeoutMs?: number;
  /** True to search by vectors too. Loading the embedder takes half a second of CPU, so tests search only by words. */
  readonly hasEmbedder?: boolean;
  /** True to serve /mcp too. */
  readonly hasMcp?: boolean;
  /** Limits of the monitor. */
  readonly monitor?: NonNullable<Parameters<typeof openKernel>[0]>["monitor"];
  /** Connects agents for the API. */
  readonly agents?: GatewayOptions["agents"];
  /** The computer whose histories are imported. */
  readonly system?: GatewayOptions["system"];
}

/** A gateway that listens in this process, on a store on disk. */
export interface TestGateway {
  readonly url: string;
  readonly port: number;
  readonly path: string;
  readonly kernel: Kernel;
  readonly gateway: Gateway;
  /** The parsed lines of its log. */
  readonly logged: readonly { readonly event: string; readonly [field: string]: unknown }[];
  /** Closes gateway and store. Idempotent. */
  close(): Promise<void>;
}

/** Starts a gateway for one test; it is closed afterwards. */
export async function startGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const { upstream, path = testFolder(), env = {}, busyTimeoutMs = 30_000 } = options;
  const upstreams =
    typeof upstream === "string"
      ? [
          {
            name: "upstream",
            baseUrl: upstream,
            apis: ["anthropic", "openai-chat", "openai-responses", "google"],
          },
        ]
      : upstream;
  const file = join(testFolder(), "longhaul.json");
  const limits = { drainMs: 2_000, ...options.config?.limits };
  // Most tests compare the bytes that a provider gets, which tools offered from the start would change.
  const recall = "edit";
  writeFileSync(file, JSON.stringify({ port: 0, upstreams, recall, ...options.config, limits }), {
    mode: 0o600,
  });
  const config: GatewayConfig = loadConfig({ path: file, cwd: path, env, flags: {} }).config;
  const store = options.store ?? (await chooseStore(path));
  const openStore = () =>
    openKernel({
      path,
      ...(store !== undefined && { store }),
      models: config.models,
      busyTimeoutMs,
      ...(!options.hasEmbedder && { embedder: null }),
      ...(options.monitor !== undefined && { monitor: options.monitor }),
    });
  const kernel = await openStore();
  const logged: { event: string }[] = [];
  const log = (line: string) => void logged.push(JSON.parse(line));
  const mcp = options.hasMcp ? { mcp: createMcpEndpoint({ kernel }) } : {};
  const openWith = (own: Kernel) =>
    openGateway({
      kernel: own,
      folder: path,
      config: () => config,
      log,
      env,
      ...mcp,
      ...(options.agents && { agents: options.agents }),
      ...(options.system && { system: options.system }),
    });
  const gateway = await openWith(kernel);
  const openTwin = async () => {
    const own = await openStore();
    return { kernel: own, gateway: await openWith(own) };
  };
  const twin = GATEWAY_MODE === "twins" ? await openTwin() : undefined;
  const url = twin ? await serveInTurns([gateway.url, twin.gateway.url]) : gateway.url;
  const close = async () => {
    await Promise.all([gateway.close(), twin?.gateway.close()]);
    await Promise.all([kernel.close(), twin?.kernel.close()]);
  };
  onTestFinished(close);
  return {
    url,
    port: Number(new URL(url).port),
    path,
    kernel,
    gateway,
    logged,
    close,
  };
}

/** With LONGHAUL_TEST_STORE, another store than the folder. */
async function chooseStore(path: string): Promise<string | undefined> {
  if (!process.env.LONGHAUL_TEST_STORE) return undefined;
  const { findStoreOfFolder } = await import("./postgres/store-of-folder.ts");
  return findStoreOfFolder(path);
}

/** A request as sent over the wire. */
export interface Question {
  readonly method?: string;
  readonly path: string;
  /** An object is sent as JSON. */
  readonly body?: Buffer | string | object | undefined;
  /** Name, value, name, value; replaces the usual headers. Host and length are added if missing. */
  readonly rawHeaders?: readonly string[];
  /** In addition to the usual headers. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Called with each piece of the response as it arrives. */
  readonly onBytes?: (bytes: Buffer, answer: IncomingMessage) => void;
}

export interface Answer {
  readonly status: number;
  readonly statusMessage: string;
  readonly rawHeaders: readonly string[];
  readonly header: (name: string) => string | undefined;
  readonly body: Buffer;
  readonly text: string;
  /** False if the connection ended before the response did. */
  readonly isWhole: boolean;
  /** Informational statuses before the final one. */
  readonly informed: readonly number[];
}

const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

/** Sends a request over plain HTTP. Rejects only if no response begins. */
export function ask({ url }: Pick<TestGateway, "url">, question: Question): Promise<Answer> {
  const { method = "POST", path, signal, onBytes } = question;
  const { hostname, port, host } = new URL(url);
  const body = bytesOf(question.body);
  const headers = headersOf(question, host, body);
  return new Promise((resolve, reject) => {
    const informed: number[] = [];
    const request = openRequest(
      { hostname, port, path, method, headers, agent, ...(signal && { signal }) },
      (answer) => {
        const chunks: Buffer[] = [];
        const end = (isWhole: boolean) => resolve(toAnswer(answer, Buffer.concat(chunks), isWhole, informed));
        answer.on("data", (bytes: Buffer) => {
          chunks.push(bytes);
          onBytes?.(bytes, answer);
        });
        answer.on("end", () => end(answer.complete));
        answer.on("error", () => end(false));
        answer.on("close", () => end(false));
      },
    );
    request.on("information", ({ statusCode }) => informed.push(statusCode));
    request.on("error", reject);
    request.end(body);
  });
}

function toAnswer(
  answer: IncomingMessage,
  body: Buffer,
  isWhole: boolean,
  informed: readonly number[],
): Answer {
  const { statusCode = 0, statusMessage = "", rawHeaders, headers } = answer;
  const header = (name: string) => headers[name]?.toString();
  return {
    status: statusCode,
    statusMessage,
    rawHeaders,
    header,
    body,
    text: body.toString("utf8"),
    isWhole,
    informed,
  };
}

function bytesOf(body: Question["body"]): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function headersOf({ rawHeaders, headers = {} }: Question, host: string, body: Buffer | undefined): string[] {
  const usual = ["content-type", "application/json", "x-api-key", "key-of-alice"];
  const own = Object.keys(headers).map((name) => name.toLowerCase());
  const sent = rawHeaders ? [...rawHeaders] : [...without(usual, own), ...Object.entries(headers).flat()];
  const has = (name: string) => sent.some((word, index) => index % 2 === 0 && word.toLowerCase() === name);
  if (!has("host")) sent.unshift("Host", host);
  if (body && !has("content-length") && !has("transfer-encoding"))
    sent.push("Content-Length", String(body.length));
  return sent;
}

/** Headers without those of the given lower-case names. */
export function without(rawHeaders: readonly string[], names: readonly string[]): string[] {
  const isLeft = (_: string, index: number) =>
    !names.includes((rawHeaders[index - (index % 2)] as string).toLowerCase());
  return rawHeaders.filter(isLeft);
}

/** Resolves when no request is in flight, at which point everything is logged. */
export async function quiet({ gateway }: Pick<TestGateway, "gateway">): Promise<void> {
  await eventually("no request is in flight", () => gateway.status().inFlight === 0);
}

/** The threads in a gateway's store, or those of one kind, newest first. */
export async function threadsOf(gateway: TestGateway, kind?: string): Promise<readonly SessionRecord[]> {
  await quiet(gateway);
  const all = await gateway.kernel.sessions({ limit: 1_000 });
  return all.filter(({ meta }) => {
    const mark = meta?.gateway as { readonly kind?: unknown } | undefined;
    return mark && (kind === undefined || mark.kind === kind);
  });
}

/** All messages of a session's log, on any line. */
export async function logOf(session: Session): Promise<readonly Extract<Entry, { kind: "message" }>[]> {
  const found: Extract<Entry, { kind: "message" }>[] = [];
  for (let from = 1; ; ) {
    const page = await session.read({ from, limit: 1_000, kinds: ["message"] });
    for (const entry of page) if (entry.kind === "message") found.push(entry);
    const last = page.at(-1);
    if (!last || page.length < 1_000) return found;
    from = last.seq + 1;
  }
}

/** All messages of a session's line. */
export async function lineOf(session: Session): Promise<readonly Extract<Entry, { kind: "message" }>[]> {
  const pages: Entry[][] = [];
  let page = await session.page({ limit: 1_000, kinds: ["message"] });
  pages.unshift([...page.entries]);
  while (page.before !== undefined) {
    page = await session.page({ limit: 1_000, kinds: ["message"], before: page.before });
    pages.unshift([...page.entries]);
  }
  return pages.flat().filter((entry) => entry.kind === "message");
}
