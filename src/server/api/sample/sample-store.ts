import { type Kernel, type MessageInput, openKernel, type SessionRecord } from "../../../kernel/index.ts";
import { renderSampleFile, renderServiceLog, renderTestRun } from "./sample-files.ts";
import { SAMPLE_SESSION } from "./sample-session.ts";

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
export async function openSampleStore(place: SamplePlace = {}): Promise<Kernel> {
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
