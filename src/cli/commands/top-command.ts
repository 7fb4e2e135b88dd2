import { setTimeout as sleep } from "node:timers/promises";
import type { ReadStream } from "node:tty";
import { countPromptTokens } from "../../kernel/faces/window.ts";
import type { Kernel, SessionId } from "../../kernel/index.ts";
import { readRequestUsage } from "../../kernel/usage/request-usage.ts";
import { UsageSums } from "../../kernel/usage/usage-sums.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { findMemoryOwner } from "../../model/session-key.ts";
import { findOrigin } from "../../model/session-origin.ts";
import { computeCacheShare, formatTokens } from "../../model/usage.ts";
import { type CommonValues, defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { findGatewayAddress } from "../connecting/gateway-address.ts";
import { EXIT } from "../exit-code.ts";
import { listSessions } from "../find-session.ts";
import { openExistingStore } from "../open-store.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { listActiveTasks } from "../tasks/collect-tasks.ts";
import { getTaskTitle } from "../tasks/format-task.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatCount } from "../terminal/format-count.ts";
import { formatDollars } from "../terminal/format-dollars.ts";
import { formatAge, formatDuration, formatTime } from "../terminal/format-time.ts";
import type { Paint } from "../terminal/paint.ts";
import { printJson, printLines } from "../terminal/print-lines.ts";
import { printTo } from "../terminal/printer.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { fitText } from "../terminal/width.ts";

/** The memory of a gateway; the sizes are known to the person who runs it. */
interface GatewayMemoryView {
  readonly level: string;
  readonly usedBytes?: number;
  readonly heapUsedBytes?: number;
  readonly rssBytes?: number;
  readonly cacheBytes?: number;
  readonly growthPerHour?: number;
}

/** The part of a running gateway's state that the live view shows. */
interface GatewayView {
  readonly url: string;
  readonly threads: readonly {
    readonly session: string;
    readonly client?: string;
    readonly model?: string;
    readonly tokens: number;
    readonly window: number;
    readonly inFlight: number;
  }[];
  readonly memory: GatewayMemoryView;
  /** Sentences of the monitor, newest first. */
  readonly notices: readonly string[];
}

/** The fields of GET /api/v1/health that the live view shows. */
interface HealthReply {
  readonly notices?: readonly { readonly text: string }[];
  readonly process?: { readonly rssBytes: number; readonly heapBytes: number } | null;
  readonly memory?: {
    readonly level: string;
    readonly usedBytes: number;
    readonly cacheBytes: number;
    readonly growthPerHour: number;
  } | null;
}

/** A gateway that is not there refuses at once; one that is busy may take its time. */
const TIMEOUT_MS = 10_000;

const LIMIT = { otherwise: 30, max: 200 };
const EVERY_SECONDS = { otherwise: 2, max: 3_600 };

/** Sessions among which the most recently used are looked for. */
const MAX_CANDIDATES = 200;

/** Shows conversations, tasks and memory, and keeps them up to date. */
export const topCommand = defineCommand({
  name: "top",
  summary: "watch conversations, windows, cache hits, cost, tasks and memory",
  usage: ["top [--once] [--every SECONDS] [--limit N] [--url URL]"],
  about:
    "Shows the most recently used conversations, those of a running gateway with their present windows; q or Ctrl-C ends it. The window is that of the last request. Cache is the share of all input tokens that the provider's cache served. Memory is that of the gateway. A gateway with tokens is read with LONGHAUL_TOKEN. Without a terminal it prints once; with --json one line for each look.",
  options: {
    once: { type: "boolean", help: "print the state once and end" },
    every: {
      type: "string",
      value: "SECONDS",
      help: `time between two looks (default: ${EVERY_SECONDS.otherwise})`,
    },
    limit: {
      type: "string",
      value: "N",
      help: `maximum conversations and tasks (default: ${LIMIT.otherwise})`,
    },
    url: {
      type: "string",
      value: "URL",
      help: "address of the gateway (default: that of its configuration)",
    },
  },
  maxOperands: 0,
  examples: ["longhaul top", "longhaul top --once", "longhaul top --json --every 10 | jq .totals.cost"],
  async run(context, { options }) {
    const limit = parseCountOption("limit", options.limit, LIMIT);
    const everyMs = 1_000 * parseCountOption("every", options.every, EVERY_SECONDS);
    const url = await findUrl(context, options);
    await using kernel = await openExistingStore(context, options);
    const reader = new TopReader(kernel);
    const look = async () =>
      reader.read(url === undefined ? undefined : await readGateway(url, context), limit);
    const isOnce = options.once === true || (!context.isTerminal.stdout && !options.json);
    const paint = choosePaint(context, options);
    if (isOnce) {
      const state = await look();
      if (options.json) await printJson(context, state);
      else {
        const width = context.columns.stdout;
        await printLines(context, renderTop(state, { width, rows: Number.POSITIVE_INFINITY, paint }));
      }
      return EXIT.fine;
    }
    if (options.json) {
      await repeat(everyMs, context.signal, async () =>
        printTo(context.stdout, `${toSafeJson(await look())}\n`, context.signal),
      );
      return EXIT.fine;
    }
    const screen = new LiveScreen(context);
    try {
      await repeat(everyMs, screen.signal, async () => {
        const state = await look();
        screen.draw(renderTop(state, { ...screen.size, paint }));
      });
    } finally {
      screen.close();
    }
    return EXIT.fine;
  },
});

/** The address of the gateway; undefined if the configuration does not tell it. */
async function findUrl(
  context: CliContext,
  options: CommonValues & { readonly url?: string },
): Promise<string | undefined> {
  if (options.url !== undefined) return (await findGatewayAddress(context, options)).url;
  return findGatewayAddress(context, options).then(
    ({ url }) => url,
    () => undefined,
  );
}

async function repeat(everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work();
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";

/** q, Q, Escape, Ctrl-C and Ctrl-D. */
const QUIT: readonly string[] = ["q", "Q", "\u001b", "\u0003", "\u0004"];

/** A separate screen on the terminal, which gives the former content back; q or Ctrl-C ends it. */
class LiveScreen {
  readonly #context: CliContext;
  readonly #controller = new AbortController();
  readonly #onKey = (key: Buffer) => {
    if (QUIT.includes(key.toString("latin1"))) this.#controller.abort();
  };

  constructor(context: CliContext) {
    this.#context = context;
    context.stdout.write(ENTER);
    if (!context.isTerminal.stdin) return;
    const stdin = context.stdin as Partial<ReadStream>;
    stdin.setRawMode?.(true);
    context.stdin.on("data", this.#onKey);
  }

  /** Aborts when the user wants to leave. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#controller.signal, this.#context.signal]);
  }

  /** The present size; a terminal may be resized. */
  get size(): { readonly width: number; readonly rows: number } {
    const { columns, rows } = this.#context.stdout as Partial<{ columns: number; rows: number }>;
    return { width: columns ?? this.#context.columns.stdout, rows: (rows ?? this.#context.rows) - 1 };
  }

  draw(lines: readonly string[]): void {
    const text = lines.map((line) => `${line}${CLEAR_LINE}\r\n`).join("");
    this.#context.stdout.write(HOME + text + CLEAR_BELOW);
  }

  close(): void {
    this.#context.stdout.write(LEAVE);
    if (!this.#context.isTerminal.stdin) return;
    this.#context.stdin.off("data", this.#onKey);
    (this.#context.stdin as Partial<ReadStream>).setRawMode?.(false);
    this.#context.stdin.pause();
  }
}

const CONVERSATIONS: readonly Column[] = [
  { title: "conversation", shrinks: "first" },
  { title: "agent", look: "cyan" },
  { title: "model", shrinks: "last" },
  { title: "window" },
  { title: "cache", align: "right" },
  { title: "cost", align: "right" },
  { title: "used", align: "right" },
];

const TASKS: readonly Column[] = [
  { title: "task" },
  { title: "state" },
  { title: "for", align: "right" },
  { title: "title", shrinks: "first" },
];

const BAR_COLUMNS = 10;

/** Draws the state in at most `rows` lines of the given width. */
function renderTop(
  state: TopState,
  view: { readonly width: number; readonly rows: number; readonly paint: Paint },
): readonly string[] {
  const { width, rows, paint } = view;
  const head = [
    paint("bold", fitText(`longhaul top  ${formatTime(state.at)}  ${describeSource(state)}`, width)),
    fitText(describeTotals(state), width),
    paintMemory(state, width, paint),
    ...state.notices.slice(0, 2).map((text) => paint("yellow", fitText(escapeLine(text), width))),
    "",
  ];
  const tasks = state.tasks.map(({ id, title, state: now, createdAt }) => [
    id,
    now,
    formatDuration(state.at - createdAt),
    title,
  ]);
  const below = tasks.length === 0 ? ["No running task."] : renderTable(TASKS, tasks, { width, paint });
  const room = Math.max(3, rows - head.length - Math.min(below.length, 6) - 2);
  const cells = state.conversations.slice(0, room - 1).map((one) => toRow(one, state.at));
  const table =
    cells.length === 0 ? ["No conversation yet."] : renderTable(CONVERSATIONS, cells, { width, paint });
  return [...head, ...table, "", ...below].slice(0, rows);
}

function describeSource({ source, url }: TopState): string {
  return source === "gateway" ? `gateway ${url}` : "store (no gateway answers)";
}

function describeTotals({ conversations, totals, store }: TopState): string {
  const disk = `log ${formatBytes(store.logBytes)}, blobs ${formatBytes(store.blobBytes)}, index ${formatBytes(store.indexBytes)}`;
  return `${formatCount(conversations.length)} shown  ${formatCount(totals.requests)} requests  ${formatDollars(totals.cost)}  cache ${formatCacheShare(totals.cacheShare)}  ${disk}`;
}

function paintMemory({ memory }: TopState, width: number, paint: Paint): string {
  if (!memory?.usedBytes) return paint("dim", fitText("memory: known while the gateway runs", width));
  const { level, usedBytes, heapUsedBytes = 0, rssBytes = 0, cacheBytes = 0, growthPerHour = 0 } = memory;
  const growth =
    Math.abs(growthPerHour) < 1e6
      ? ""
      : `, ${growthPerHour > 0 ? "+" : "−"}${formatBytes(Math.abs(growthPerHour))} an hour`;
  const text = `memory: ${level}, ${formatBytes(usedBytes)} in use (heap ${formatBytes(heapUsedBytes)}, caches ${formatBytes(cacheBytes)}, resident ${formatBytes(rssBytes)}${growth})`;
  const look = level === "critical" ? "red" : level === "warning" ? "yellow" : "green";
  return paint(look, fitText(text, width));
}

function toRow(one: TopConversation, now: number): readonly string[] {
  return [
    `${one.isActive ? "▶ " : ""}${one.title ?? one.session}`,
    one.agent ?? "",
    one.model ?? "",
    drawWindow(one),
    formatCacheShare(one.cacheShare),
    formatDollars(one.cost),
    formatAge(one.usedAt, now),
  ];
}

function drawWindow({ tokens, window }: TopConversation): string {
  if (tokens === 0 || window === 0) return "";
  const share = Math.min(1, tokens / window);
  const full = Math.round(share * BAR_COLUMNS);
  return `${"█".repeat(full)}${"·".repeat(BAR_COLUMNS - full)} ${formatTokens(tokens)}/${formatTokens(window)}`;
}

function formatCacheShare(share: number | null): string {
  return share === null ? "–" : `${Math.round(100 * share)}%`;
}

/** One conversation of the live view. */
interface TopConversation {
  readonly session: SessionId;
  readonly title?: string;
  readonly agent?: string;
  readonly model?: string;
  /** Tokens of the last request, and the window of its model. */
  readonly tokens: number;
  readonly window: number;
  /** Share of all input tokens that came from the provider's cache; null without input. */
  readonly cacheShare: number | null;
  readonly cost: number;
  readonly requests: number;
  readonly usedAt: number;
  readonly isActive: boolean;
}

/** One running task. */
interface TopTask {
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly createdAt: number;
}

/** Everything that the live view shows. */
interface TopState {
  readonly at: number;
  /** Where the numbers come from. */
  readonly source: "gateway" | "store";
  readonly url: string | null;
  readonly conversations: readonly TopConversation[];
  readonly tasks: readonly TopTask[];
  readonly totals: { readonly requests: number; readonly cost: number; readonly cacheShare: number | null };
  readonly store: { readonly logBytes: number; readonly blobBytes: number; readonly indexBytes: number };
  /** The memory of the gateway's process; null without one. */
  readonly memory: GatewayView["memory"] | null;
  readonly notices: readonly string[];
}

/** Reads the state of store and gateway; usage of an unchanged session is not read again. */
class TopReader {
  readonly #kernel: Kernel;
  readonly #sums = new Map<SessionId, { readonly seq: number; readonly sums: UsageSums }>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  async read(gateway: GatewayView | undefined, limit: number): Promise<TopState> {
    const kernel = this.#kernel;
    const used: { readonly id: SessionId; readonly at: number; readonly seq: number }[] = [];
    const threads = gateway?.threads.map(({ session }) => session) ?? [];
    const listed = new Set([...threads, ...(await this.#listRecent())]);
    for (const id of listed) {
      if (!(await kernel.find(id))) continue;
      await using session = await kernel.session(id);
      const { seq, at } = await session.head();
      used.push({ id, seq, at });
    }
    used.sort((one, other) => other.at - one.at);
    const conversations: TopConversation[] = [];
    for (const { id, seq, at } of used.slice(0, limit))
      conversations.push(await this.#readConversation(id, seq, at, gateway));
    const tasks = await Promise.all(
      (await listActiveTasks(kernel)).slice(0, limit).map(async ({ id, state, createdAt }) => {
        const { plan } = await kernel.tasks.sketch(id);
        return { id, title: getTaskTitle(plan), state, createdAt };
      }),
    );
    const { logBytes, blobBytes, memoryBytes } = await kernel.size();
    return {
      at: Date.now(),
      source: gateway ? "gateway" : "store",
      url: gateway?.url ?? null,
      conversations,
      tasks,
      totals: this.#sumTotals(conversations.map(({ session }) => session)),
      store: { logBytes, blobBytes, indexBytes: memoryBytes },
      memory: gateway?.memory ?? null,
      notices: gateway?.notices ?? [],
    };
  }

  async #listRecent(): Promise<readonly SessionId[]> {
    const ids: SessionId[] = [];
    for await (const { id, relation } of listSessions(this.#kernel)) {
      if (relation !== "child" && findMemoryOwner(id) === undefined) ids.push(id);
      if (ids.length === MAX_CANDIDATES) break;
    }
    return ids;
  }

  async #readConversation(
    id: SessionId,
    seq: number,
    usedAt: number,
    gateway: GatewayView | undefined,
  ): Promise<TopConversation> {
    const record = await this.#kernel.find(id);
    const sums = await this.#readSums(id, seq);
    const { last, total } = sums;
    const thread = gateway?.threads.find(({ session }) => session === id);
    const model = thread?.model || last?.model;
    const { agent } = record ? findOrigin(record) : {};
    const name = thread?.client ?? agent;
    return {
      session: id,
      ...dropUndefined({ title: record?.title, agent: name }),
      ...(model && { model }),
      tokens: thread?.tokens ?? (last ? countPromptTokens(last.totals) : 0),
      window: thread?.window ?? (model ? this.#kernel.modelFacts(model).window : 0),
      cacheShare: computeCacheShare(total),
      cost: total.cost,
      requests: total.requests,
      usedAt,
      isActive: (thread?.inFlight ?? 0) > 0,
    };
  }

  async #readSums(id: SessionId, seq: number): Promise<UsageSums> {
    const known = this.#sums.get(id);
    if (known?.seq === seq) return known.sums;
    const sums = new UsageSums();
    await using session = await this.#kernel.session(id);
    for await (const spent of readRequestUsage(session, (model) => this.#kernel.modelFacts(model)))
      sums.add(spent);
    this.#sums.set(id, { seq, sums });
    return sums;
  }

  #sumTotals(ids: readonly SessionId[]): TopState["totals"] {
    const all = ids.flatMap((id) => this.#sums.get(id)?.sums.total ?? []);
    const sum = (of: (one: (typeof all)[number]) => number) => all.reduce((total, one) => total + of(one), 0);
    const tokens = {
      inputTokens: sum(({ inputTokens }) => inputTokens),
      cacheReadTokens: sum(({ cacheReadTokens }) => cacheReadTokens),
      cacheWriteTokens: sum(({ cacheWriteTokens }) => cacheWriteTokens),
    };
    return {
      requests: sum(({ requests }) => requests),
      cost: sum(({ cost }) => cost),
      cacheShare: computeCacheShare(tokens),
    };
  }
}

/** Reads the state of the gateway at an address; undefined if none answers or it wants another token. */
async function readGateway(url: string, context: CliContext): Promise<GatewayView | undefined> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const ask = (route: string) => readRoute(`${url}/api/v1${route}`, context.env.LONGHAUL_TOKEN, signal);
  try {
    const [gateway, health] = await Promise.all([ask("/gateway"), ask("/health")]);
    const { threads } = gateway as Partial<GatewayView>;
    if (!Array.isArray(threads)) return undefined;
    const { notices = [], memory, process } = health as HealthReply;
    return {
      url,
      threads,
      memory:
        memory && process
          ? { ...pickSizes(memory), heapUsedBytes: process.heapBytes, rssBytes: process.rssBytes }
          : { level: "normal" },
      notices: notices.map(({ text }) => text),
    };
  } catch {
    return undefined;
  }
}

function pickSizes({
  level,
  usedBytes,
  cacheBytes,
  growthPerHour,
}: NonNullable<HealthReply["memory"]>): GatewayMemoryView {
  return { level, usedBytes, cacheBytes, growthPerHour };
}

async function readRoute(url: string, token: string | undefined, signal: AbortSignal): Promise<object> {
  const reply = await fetch(url, {
    signal,
    redirect: "error",
    ...(token && { headers: { authorization: `Bearer ${token}` } }),
  });
  if (reply.ok) return (await reply.json()) as object;
  await reply.body?.cancel();
  throw new Error(`The gateway answered ${reply.status}.`);
}
