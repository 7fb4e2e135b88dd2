import { type Kernel, type MessageInput, openKernel, type SessionRecord } from "../../../kernel/index.ts";
import { EstimateRun } from "../../../kernel/usage/savings-estimates.ts";
import { Lazy } from "../../../model/base/lazy.ts";
import type { ApiServices } from "../api-services.ts";
import type { ApiCaller } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import type { ApiRoute } from "../core/route.ts";
import { ChangeFeed } from "../events/change-feed.ts";
import { HistoryImport } from "../jobs/history-import.ts";
import { IndexRun } from "../jobs/index-run.ts";
import { ReplayJobs } from "../jobs/replay-jobs.ts";
import { ReplayRunner } from "../jobs/replay-runner.ts";
import { StoreUsage } from "../spending/store-usage.ts";
import { SAMPLE_SESSION } from "./sample-session.ts";

/** The routes below this path answer from the store of the sample. */
export const SAMPLE_PATH = "/sample";

/** Everybody sees the same sample. */
export const SAMPLE_CALLER: ApiCaller = {
  id: "sample",
  name: undefined,
  role: "admin",
  prefixes: undefined,
  homePrefix: "",
  memoryAgent: "sample",
  isOnLoopback: false,
};

/** Routes about one conversation, which read it. The sample stays as it is, so that its store cannot grow. */
export function checkSampleRoute({ id, method, path }: Pick<ApiRoute, "id" | "method" | "path">): void {
  const isRead = method === "GET" && /^\/(?:sessions|jobs)(?:\/|$)/.test(path);
  if (isRead || id === "startReplay") return;
  throw new ApiError("FORBIDDEN", "The sample can only be read and replayed.");
}

type Opened = ApiServices & { readonly close: () => Promise<void> };

/** The services of the API on the store of the sample, which is opened at the first request for it. */
export class SampleServices {
  readonly #own: ApiServices;
  readonly #opened = new Lazy<Opened>(() => this.#open());

  constructor(own: ApiServices) {
    this.#own = own;
  }

  open(): Promise<ApiServices> {
    return this.#opened.get();
  }

  async close(): Promise<void> {
    await (await this.#opened.peek())?.close();
  }

  async #open(): Promise<Opened> {
    const kernel = await openSampleStore();
    const replays = new ReplayJobs(new ReplayRunner(kernel), "sample-replay");
    const indexRun = new IndexRun(kernel);
    const estimates = new EstimateRun(kernel);
    const close = async () => {
      await estimates.close();
      await indexRun.close();
      await replays.close();
      await kernel.close();
    };
    return {
      kernel,
      server: this.#own.server,
      gateway: this.#own.gateway,
      imports: new HistoryImport(kernel),
      replays,
      indexRun,
      agents: undefined,
      erasures: this.#own.erasures,
      usage: new StoreUsage(kernel),
      estimates,
      signIn: this.#own.signIn,
      onError: this.#own.onError,
      feed: new ChangeFeed(kernel, { onChange: () => () => undefined }),
      close,
    };
  }
}

const MODEL = "claude-sonnet-4-5";
/** Small, so that a conversation of this length meets its limit. */
const WINDOW = 32_000;
const STEP_MS = 45_000;
const REPLY_TOKENS = 240;
const SYSTEM = "You are a careful programmer in the repository of a parcel service.";

/** Where the sample is written; by default a store in memory. */
interface SamplePlace {
  readonly path?: string;
  readonly id?: string;
  readonly meta?: NonNullable<SessionRecord["meta"]>;
}

/**
 * Opens a store with one conversation that ends now, held under the policy of longhaul with all its edits. It is apart
 * from the store of the gateway, so that nothing of it reaches a person's figures or recall.
 */
async function openSampleStore(place: SamplePlace = {}): Promise<Kernel> {
  const { path = ":memory:", id = SAMPLE_SESSION } = place;
  const { meta = { source: { format: "sample", id }, cwd: "/parcels" } } = place;
  let now = Date.now() - SAMPLE_STORY.length * STEP_MS;
  const clock = { now: () => now };
  const kernel = await openKernel({ path, embedder: null, clock });
  await using session = await kernel.session(id, { title: "Parcels that arrive twice", meta });
  const window = session.window({ model: MODEL, system: SYSTEM, models: { "*": { window: WINDOW } } });
  let cached = 0;
  for (const [index, step] of SAMPLE_STORY.entries()) {
    now += STEP_MS;
    const [first, ...rest] = toMessages(step, index);
    if (first?.role !== "assistant") {
      if (first) await session.append(first);
      continue;
    }
    const { tokens, plan } = await window.fit();
    const cacheReadTokens = plan ? 0 : Math.min(cached, tokens);
    await session.append(first);
    await window.report({
      inputTokens: 12,
      cacheReadTokens,
      cacheWriteTokens: tokens - cacheReadTokens,
      outputTokens: REPLY_TOKENS,
    });
    cached = tokens;
    for (const message of rest) await session.append(message);
  }
  return kernel;
}

function toMessages(step: SampleStep, index: number): readonly MessageInput[] {
  if ("user" in step) return [{ role: "user", text: step.user }];
  if ("agent" in step) return [{ role: "assistant", model: MODEL, text: step.agent }];
  const { tool: name, input, output } = step;
  const callId = `call-${index}`;
  return [
    { role: "assistant", model: MODEL, parts: [{ type: "tool-call", callId, name, input }] },
    { role: "tool", parts: [{ type: "tool-result", callId, name, output }] },
  ];
}

/** A step of the sample: the user speaks, the agent speaks, or the agent uses a tool. */
type SampleStep =
  | { readonly user: string }
  | { readonly agent: string }
  | { readonly tool: string; readonly input: Readonly<Record<string, string>>; readonly output: string };

const read = (path: string, change?: string): SampleStep => ({
  tool: "read_file",
  input: { path },
  output: renderSampleFile(path, change),
});
const test = (run: number, ...failing: readonly string[]): SampleStep => ({
  tool: "shell",
  input: { command: "npm test" },
  output: renderTestRun(run, failing),
});
const log = (hour: number, count: number): SampleStep => ({
  tool: "shell",
  input: { command: `journalctl -u parcels --since ${hour}:00 --until ${hour + 1}:00` },
  output: renderServiceLog(hour, count),
});
const edit = (path: string, diff: string): SampleStep => ({
  tool: "edit_file",
  input: { path, diff },
  output: `Edited ${path}.`,
});

const LATE = "counts a scan once if the scanner sends it again at the full minute";
const TWICE = "keeps one movement if two depots scan in the same second";
const FIX = `const WINDOW_MS = 90_000;\n\n/** A scan that is sent again has the same attempt; the minute of its arrival is no part of its identity. */\nexport const keyOf = (one: ScanKey) => \`\${one.parcel}:\${one.depot}:\${one.attempt}\`;`;
const DIFF = `-  const minute = Math.floor(one.scannedAt / 60_000);
-  return \`\${one.parcel}:\${one.depot}:\${minute}\`;
+  return \`\${one.parcel}:\${one.depot}:\${one.attempt}\`;`;

/** A file of the project in the sample: its name, the thing it is about, and the functions in it. */
interface SampleFile {
  readonly path: string;
  readonly noun: string;
  readonly verbs: readonly string[];
}

const FILES: readonly SampleFile[] = [
  {
    path: "src/scans/intake.ts",
    noun: "Scan",
    verbs: [
      "receive",
      "check",
      "queue",
      "acknowledge",
      "retry",
      "discard",
      "describe",
      "batch",
      "count",
      "flush",
    ],
  },
  {
    path: "src/scans/dedupe.ts",
    noun: "ScanKey",
    verbs: ["build", "compare", "remember", "expire", "forget", "collide", "measure", "format", "prune"],
  },
  {
    path: "src/parcels/ledger.ts",
    noun: "Movement",
    verbs: [
      "append",
      "read",
      "order",
      "merge",
      "reverse",
      "audit",
      "sum",
      "close",
      "reopen",
      "export",
      "lock",
    ],
  },
  {
    path: "src/parcels/status.ts",
    noun: "Status",
    verbs: ["derive", "announce", "translate", "hold", "release", "escalate", "archive", "explain"],
  },
  {
    path: "src/http/routes.ts",
    noun: "Route",
    verbs: ["match", "guard", "answer", "refuse", "trace", "limit", "list", "document", "health"],
  },
];

/** Renders a file of the sample; the same name always has the same content, except for a change that was made. */
function renderSampleFile(path: string, change = ""): string {
  const file = FILES.find((one) => one.path === path);
  if (!file) return `No such file: ${path}`;
  const { noun, verbs } = file;
  const head = [
    `import { createHash } from "node:crypto";`,
    `import type { Clock, Database } from "../ports.ts";`,
    ``,
    `/** ${noun}s of the parcel service. One row for each event that a scanner sent. */`,
    `export interface ${noun} {`,
    `  readonly id: string;`,
    `  readonly parcel: string;`,
    `  readonly depot: string;`,
    `  readonly scannedAt: number;`,
    `  readonly attempt: number;`,
    `}`,
    ``,
  ];
  const body = verbs.flatMap((verb, index) => renderFunction(verb, noun, index));
  return [...head, ...(change ? [change, ""] : []), ...body].join("\n");
}

function renderFunction(verb: string, noun: string, index: number): readonly string[] {
  const name = `${verb}${noun}`;
  const limit = 40 * (index + 2);
  return [
    `const MAX_${verb.toUpperCase()} = ${limit};`,
    ``,
    `/** Steps of ${verb}: read the row, decide, write once. Depots may be ${index + 3} minutes late. */`,
    `export async function ${name}(database: Database, clock: Clock, one: ${noun}): Promise<${noun} | undefined> {`,
    `  const key = createHash("sha256").update(\`\${one.parcel}:\${one.depot}:\${one.attempt}\`).digest("hex");`,
    `  const known = await database.find("${noun.toLowerCase()}", key.slice(0, ${16 + index}));`,
    `  if (known && clock.now() - known.scannedAt < ${limit} * 1_000) return undefined;`,
    `  const rows = await database.list("${noun.toLowerCase()}", { parcel: one.parcel, limit: MAX_${verb.toUpperCase()} });`,
    `  const newest = rows.toSorted((a, b) => b.scannedAt - a.scannedAt).at(0);`,
    `  if (newest && newest.attempt > one.attempt) return newest;`,
    `  return database.insert("${noun.toLowerCase()}", { ...one, attempt: one.attempt + ${index % 3} });`,
    `}`,
    ``,
  ];
}

const CASES = ["accepts", "refuses", "keeps", "orders", "repeats", "reports", "expires", "survives"];
const THINGS = [
  "a late scan",
  "two scanners at one depot",
  "a scan of yesterday",
  "an empty batch",
  "a closed parcel",
];

/** Renders the output of a run of the tests; `failing` names the tests that fail. */
function renderTestRun(run: number, failing: readonly string[]): string {
  const lines = CASES.flatMap((verb, row) =>
    THINGS.map((thing, column) => {
      const ms = 3 + ((run * 7 + row * 11 + column * 5) % 38);
      return `ok ${row * THINGS.length + column + 1} - ${verb} ${thing} (${ms} ms)`;
    }),
  );
  const failures = failing.flatMap((title, index) => [
    `not ok ${lines.length + index + 1} - ${title}`,
    `  AssertionError: expected 1 movement, received 2`,
    `      at Object.<anonymous> (test/scans/intake.test.ts:${88 + 9 * index}:24)`,
    `      at process.processTicksAndRejections (node:internal/process/task_queues:105:5)`,
    `  parcel: PX-4471-0${index}  depot: HAM-2  attempt: 1  scannedAt: 17:0${index}:59.998`,
  ]);
  const total = lines.length + failing.length;
  return [
    `TAP version 14`,
    `1..${total}`,
    ...lines,
    ...failures,
    `# pass ${lines.length}`,
    `# fail ${failing.length}`,
  ].join("\n");
}

/** Renders lines of a log of the service. */
function renderServiceLog(hour: number, count: number): string {
  const levels = ["info", "info", "info", "warn"];
  return Array.from({ length: count }, (_, index) => {
    const at = `2026-03-02T${String(hour).padStart(2, "0")}:${String(index % 60).padStart(2, "0")}:${String((index * 7) % 60).padStart(2, "0")}Z`;
    const parcel = `PX-${4_400 + ((index * 13) % 90)}-0${index % 4}`;
    return `${at} ${levels[index % levels.length]} intake depot=HAM-${1 + (index % 3)} parcel=${parcel} attempt=${1 + (index % 2)} took=${4 + ((index * 3) % 40)}ms`;
  }).join("\n");
}

/** An agent finds out why parcels move twice. Written for this purpose; nobody's conversation. */
const SAMPLE_STORY: readonly SampleStep[] = [
  {
    user: "Customers see parcels arrive twice at the Hamburg depot, about one in two thousand. Find out why and fix it. The staging database is on port **50432**; never write to it.",
  },
  {
    agent:
      "I start with the intake of scans and its tests, then look at the log of an affected hour. Staging stays read-only.",
  },
  read("src/scans/intake.ts"),
  read("src/scans/dedupe.ts"),
  test(1, LATE),
  {
    agent:
      "One test fails: *counts a scan once if the scanner sends it again at the full minute*. The key of a scan contains the minute of its arrival, so a scan that is repeated at 17:01:00 instead of 17:00:59 counts as new.\n\nBefore I change it I want to see this in production.",
  },
  log(17, 150),
  log(18, 130),
  {
    agent:
      "The log shows it: `PX-4471-00` was acknowledged at 17:00:59 and queued again one second later, both with `attempt=1`.",
  },
  { user: "Good. Which modules use that key? I do not want the ledger to change its order." },
  {
    tool: "shell",
    input: { command: "rg -n keyOf src" },
    output:
      'src/scans/dedupe.ts:31:export const keyOf = (one: ScanKey) => {\nsrc/scans/intake.ts:12:import { keyOf } from "./dedupe.ts";\nsrc/scans/intake.ts:58:  const key = keyOf(one);\nsrc/parcels/ledger.ts:77:  // keyOf is not used here: movements are ordered by their arrival.',
  },
  read("src/parcels/ledger.ts"),
  read("src/parcels/status.ts"),
  { agent: "Only the intake uses it. The ledger orders movements by arrival and is not affected." },
  {
    user: "Then change the key to use the attempt instead of the minute, and keep the old keys valid for ninety seconds.",
  },
  edit("src/scans/dedupe.ts", DIFF),
  read("src/scans/dedupe.ts", FIX),
  test(2, TWICE),
  {
    agent:
      "The first failure is gone, but another test fails now: *keeps one movement if two depots scan in the same second*. Two depots share an attempt number. I look at the routes that assign it.",
  },
  read("src/http/routes.ts"),
  read("src/scans/intake.ts"),
  {
    agent:
      "The attempt is counted per connection, not per depot. The depot belongs into the key; it already does, so the ledger must merge by depot as well.",
  },
  read("src/parcels/ledger.ts"),
  edit(
    "src/parcels/ledger.ts",
    "-  const same = rows.find((row) => row.attempt === one.attempt);\n+  const same = rows.find((row) => row.attempt === one.attempt && row.depot === one.depot);",
  ),
  test(3),
  {
    agent:
      "All tests pass.\n\n| change | file |\n|---|---|\n| key without the minute | `src/scans/dedupe.ts` |\n| merge by depot | `src/parcels/ledger.ts` |",
  },
  { user: "Check the log of last night for parcels that would still be counted twice." },
  log(22, 160),
  log(23, 150),
  log(1, 140),
  { agent: "Three parcels differ in depot only, and those are real movements. None would be counted twice." },
  { user: "Write the note for the on-call engineer. What was the port of the staging database again?" },
  {
    agent:
      "Staging listens on port **50432**, read-only.\n\n```md\n## Double movements\nCause: the key of a scan contained the minute of its arrival.\nFix: the key contains the attempt; old keys hold for 90 seconds.\nCheck: rg 'attempt=1' on the intake log, two rows for one parcel and depot.\n```",
  },
  { user: 'One more thing: the status page says "in transit" for parcels on hold.' },
  read("src/parcels/status.ts"),
  {
    tool: "shell",
    input: { command: "git log --oneline -20 src/parcels/status.ts" },
    output:
      "9f2c1aa translate the names of depots\n41be0d7 announce a hold once\n0d37c55 derive the status from the newest movement\n",
  },
  test(4, "shows on hold until the parcel is released"),
  {
    agent:
      "`deriveStatus` reads the newest movement, and a hold is no movement. The hold has to win while it is open.",
  },
  edit(
    "src/parcels/status.ts",
    '-  return newest ? "in transit" : "announced";\n+  if (hold && !hold.releasedAt) return "on hold";\n+  return newest ? "in transit" : "announced";',
  ),
  read("src/parcels/status.ts", "/** A hold that is open wins over every movement. */"),
  test(5),
  log(9, 150),
  {
    agent:
      "Fixed, and all tests pass. The morning's log shows eleven parcels on hold; the page names them correctly.",
  },
  { user: "Thanks. Summarize what we changed today and what is left." },
  read("src/scans/dedupe.ts", FIX),
  read("src/http/routes.ts"),
  {
    agent:
      "Changed today:\n\n1. Scans are identified by parcel, depot and attempt.\n2. Movements of two depots in one second stay apart.\n3. A hold wins over movements on the status page.\n\nLeft: the attempt is still counted per connection in `src/http/routes.ts`; a reconnect of a scanner starts at one again. I would count it per depot.",
  },
];
