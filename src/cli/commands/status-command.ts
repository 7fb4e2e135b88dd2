import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { AgentHistory } from "../../histories/index.ts";
import type { Kernel } from "../../kernel/index.ts";
import { defineCommand } from "../cli-command.ts";
import { renderRows } from "../context/labeled-row.ts";
import { EXIT } from "../exit-code.ts";
import { listSessionIds } from "../find-session.ts";
import { examineLocalHistories } from "../histories/examine-local-histories.ts";
import { describeThreatened, KEEP_COMMANDS, renderHistories } from "../histories/render-histories.ts";
import { getStoreUrl, isStoreThere, nameStore, openExistingStore } from "../open-store.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { printJson, printLines } from "../terminal/print-lines.ts";
import { wrapText } from "../terminal/wrap-text.ts";

/** Shows the state of store, index and gateway. */
export const statusCommand = defineCommand({
  name: "status",
  summary: "show the store, the histories of agents, and whether the gateway runs",
  usage: ["status [--url URL]"],
  options: {
    url: { type: "string", value: "URL", help: "address of the gateway (default: http://127.0.0.1:4747)" },
  },
  maxOperands: 0,
  examples: ["longhaul status", "longhaul status --json"],
  async run(context, { options }) {
    const path = nameStore(context, options);
    const gateway = await findGateway(options.url, context.env, context.signal);
    let store: StoreStatus | undefined;
    let histories: readonly AgentHistory[];
    if (isStoreThere(context, options)) {
      await using kernel = await openExistingStore(context, options);
      store = await measureStore(kernel, getStoreUrl(context, options) === undefined ? path : undefined);
      histories = await examineLocalHistories(context, kernel);
    } else histories = await examineLocalHistories(context, undefined);
    if (options.json) {
      await printJson(context, { path, store: store ?? null, gateway, histories });
      return EXIT.fine;
    }
    const rows: readonly (readonly [string, string])[] = [
      ["store", path],
      ...(store ? describeStore(store) : [["", 'empty; "longhaul import" fills it'] as const]),
      [
        "gateway",
        gateway.isRunning ? `running at ${gateway.url}` : 'not running; "longhaul serve" starts it',
      ],
    ];
    const width = context.columns.stdout;
    const paint = choosePaint(context, options);
    const table = renderHistories(histories, { width, paint });
    const threatened = describeThreatened(histories);
    await printLines(context, [
      ...renderRows(rows, width, paint),
      ...(table.length > 0 ? ["", ...table] : []),
      ...(threatened === undefined
        ? []
        : ["", ...wrapText(`${threatened}; ${KEEP_COMMANDS}.`, width).map((line) => paint("yellow", line))]),
    ]);
    return EXIT.fine;
  },
});

/** The share that is done, rounded down, so that unfinished work is never 100%. */
function formatDone(missing: number, all: number): string {
  return `${Math.floor((100 * Math.max(0, all - missing)) / Math.max(1, all))}%`;
}

function describeStore({ sizeBytes, sessions, index }: StoreStatus): readonly (readonly [string, string])[] {
  const { chunks, entries, unindexed, unembedded } = index;
  const missing = [
    ...(unindexed > 0
      ? [`${formatDone(unindexed, entries)} done, ${formatQuantity(unindexed, "entry", "entries")} to index`]
      : []),
    ...(unembedded > 0
      ? [`${formatDone(unembedded, chunks)} embedded, ${formatQuantity(unembedded, "chunk")} to embed`]
      : []),
  ];
  const state = missing.length === 0 ? "complete" : `${missing.join(", ")}; "longhaul index" completes it`;
  return [
    ["size", formatBytes(sizeBytes)],
    ["sessions", formatQuantity(sessions, "conversation")],
    ["index", `${formatQuantity(chunks, "chunk")}, ${state}`],
  ];
}

/** Whether a gateway answers at an address. */
interface GatewayPresence {
  readonly url: string;
  readonly isRunning: boolean;
}

const DEFAULT_PORT = 4747;
const TIMEOUT_MS = 1_000;

/** Asks for the gateway at the address, else at the port that the environment or the default names. */
async function findGateway(
  given: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<GatewayPresence> {
  const url = (given ?? `http://127.0.0.1:${env.LONGHAUL_PORT || DEFAULT_PORT}`).replace(/\/+$/, "");
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(`${url}/healthz`, { signal: limit });
    await response.body?.cancel();
    return { url, isRunning: response.ok };
  } catch {
    return { url, isRunning: false };
  }
}

/** The content of a store. */
interface StoreStatus {
  readonly sizeBytes: number;
  readonly sessions: number;
  readonly index: Awaited<ReturnType<Kernel["memory"]["state"]>>;
}

/** Measures a store and its index; without a folder, as its database counts. */
async function measureStore(kernel: Kernel, path: string | undefined): Promise<StoreStatus> {
  let sessions = 0;
  for await (const _ of listSessionIds(kernel)) sessions++;
  const sizeBytes = path === undefined ? await measureDatabase(kernel) : await measureFolder(path);
  return { sizeBytes, sessions, index: await kernel.memory.state() };
}

async function measureDatabase(kernel: Kernel): Promise<number> {
  const { logBytes, memoryBytes } = await kernel.size();
  return logBytes + memoryBytes;
}

async function measureFolder(path: string): Promise<number> {
  let sizeBytes = 0;
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const facts = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    sizeBytes += facts?.size ?? 0;
  }
  return sizeBytes;
}
