import { join } from "node:path";
import { importSources } from "../../src/histories/index.ts";
import { loadConversation } from "../../src/kernel/calls/load-conversation.ts";
import { countProtocolTokens, type RecordedMessage } from "../../src/kernel/faces/window.ts";
import { type Kernel, openKernel, type SessionId } from "../../src/kernel/index.ts";
import { ReferenceReader } from "../../src/window/replay/reference-reader.ts";
import { REFETCH_TABLE, type RefetchTable } from "../../src/window/replay/refetch-estimate.ts";
import { type ClueKind, getClueKind, SeenClues } from "../../src/window/replay/seen-clues.ts";

/**
 * Fits the table of `src/window/replay/refetch-estimate.ts`. At each recorded compaction it takes the clues that left the
 * window and that the assistant used within the next 25 requests, and counts how many of them a tool result had brought
 * back before. At other points of the same sessions it counts the same for clues that were still in the window.
 *
 * node training/refetch/fit.ts [folder of transcripts]
 */
const REQUESTS = REFETCH_TABLE.requests;
const AGES = REFETCH_TABLE.ages;
const KINDS: readonly ClueKind[] = ["line", "path", "name"];
/** Distance between the points without a compaction, and from a compaction to the first of them. */
const STEP = 15;
const SETTLED = 20;
/** Weight of the whole kind in the chance of one class, in lost clues. */
const PRIOR = 50;
const FOLDS = 5;

interface ToolFetch {
  readonly id: string;
  readonly tokens: number;
  readonly callTokens: number;
}

/** A clue from earlier tool output that the assistant used. */
interface Need {
  readonly session: string;
  readonly point: string;
  /** True if a compaction had removed the clue. */
  readonly isLost: boolean;
  readonly kind: ClueKind;
  readonly age: number;
  readonly isNamed: boolean;
  readonly output: { readonly id: string; readonly tokens: number };
  /** The tool result that brought the clue back before its use. */
  readonly fetch: ToolFetch | undefined;
}

/** References that remain in the window after each compaction, by the index of the first message after it. */
type Compactions = ReadonlyMap<number, ReadonlySet<string>>;

async function findCompactions(
  kernel: Kernel,
  id: SessionId,
  conversation: readonly RecordedMessage[],
  reader: ReferenceReader,
): Promise<Compactions> {
  await using session = await kernel.session(id);
  const found = new Map<number, ReadonlySet<string>>();
  for (const { entry } of await session.overlays.list(500)) {
    const { edit } = entry;
    if (edit.type !== "summarize") continue;
    const last = Math.max(...edit.ranges.map(({ to }) => to));
    const place = conversation.findIndex(({ seq }) => seq > last);
    if (place <= 0) continue;
    const next = conversation.findIndex(
      ({ message }, index) => index >= place && message.role === "assistant",
    );
    const kept = conversation.slice(place, next < 0 ? undefined : next).map(({ message }) => message);
    const messages = [...("messages" in edit ? (edit.messages ?? []) : []), ...kept];
    found.set(place, new Set(messages.flatMap((message) => [...reader.readOffered(message)])));
  }
  return found;
}

/** The clues used within the next requests, each with the tool result that brought it back, if one did. */
function findUses(
  conversation: readonly RecordedMessage[],
  from: number,
  compactions: Compactions,
  reader: ReferenceReader,
): ReadonlyMap<string, ToolFetch | undefined> {
  const fetched = new Map<string, ToolFetch>();
  const used = new Map<string, ToolFetch | undefined>();
  let requests = 0;
  for (let index = from; index < conversation.length && requests < REQUESTS; index++) {
    if (index > from && compactions.has(index)) break;
    const { seq, message } = conversation[index] as RecordedMessage;
    if (message.role === "assistant") {
      requests++;
      for (const reference of reader.readUsed(message))
        if (!used.has(reference)) used.set(reference, fetched.get(reference));
    } else if (message.role === "tool") {
      const calls = conversation[index - 1]?.message;
      for (const [place, { references, characters }] of reader.readParts(message).entries()) {
        const result = message.parts[place];
        const parts = (calls?.parts ?? []).filter(
          (part) =>
            part.type === "tool-call" && result?.type === "tool-result" && part.callId === result.callId,
        );
        const callTokens = countProtocolTokens({ role: "assistant", parts });
        const fetch = { id: `${seq}.${place}`, tokens: Math.ceil(characters / 4), callTokens };
        for (const reference of references) if (!fetched.has(reference)) fetched.set(reference, fetch);
      }
    }
  }
  return used;
}

async function* listNeeds(kernel: Kernel, id: SessionId): AsyncGenerator<Need> {
  const conversation = await loadConversation(kernel, id);
  const reader = new ReferenceReader();
  const compactions = await findCompactions(kernel, id, conversation, reader);
  if (compactions.size === 0) return;
  const total = conversation.filter(({ message }) => message.role === "assistant").length;
  const requestOf = conversation.map(
    (_, index) => conversation.slice(0, index).filter(({ message }) => message.role === "assistant").length,
  );
  const cuts = [...compactions.keys()].map((index) => requestOf[index] as number);
  const clues = new SeenClues(reader);
  let lastCut = 0;
  for (const [index, said] of conversation.entries()) {
    const { requests } = clues;
    const kept = compactions.get(index);
    const isPlain =
      !kept &&
      said.message.role === "assistant" &&
      requests % STEP === 0 &&
      requests - lastCut >= SETTLED &&
      total - requests >= REQUESTS &&
      cuts.every((cut) => cut <= requests || cut - requests >= REQUESTS);
    if (kept || isPlain)
      for (const [reference, fetch] of findUses(conversation, index, compactions, reader)) {
        const clue = clues.find(reference);
        // Without a compaction here, clues from before the last one are not in the agent's window.
        if (!clue?.output || kept?.has(reference) || (!kept && clue.request < lastCut)) continue;
        const { isNamed, output } = clue;
        const kind = getClueKind(reference);
        const age = requests - clue.request;
        yield {
          session: id,
          point: `${id} ${index}`,
          isLost: kept !== undefined,
          kind,
          age,
          isNamed,
          output,
          fetch,
        };
      }
    if (kept) lastCut = requests;
    clues.observe(said);
  }
}

/** Among needed clues that would not have been fetched anyway, the share that is fetched because it was lost. */
function computeChance(needs: readonly Need[]): number {
  const lost = computeFetchedShare(needs.filter(({ isLost }) => isLost));
  const present = computeFetchedShare(needs.filter(({ isLost }) => !isLost));
  return present >= 1 ? 0 : Math.max(0, (lost - present) / (1 - present));
}

function computeFetchedShare(needs: readonly Need[]): number {
  return needs.filter(({ fetch }) => fetch).length / Math.max(1, needs.length);
}

function fitTable(needs: readonly Need[]): RefetchTable {
  const rows = KINDS.map((kind) => {
    const ofKind = needs.filter((need) => need.kind === kind);
    const whole = computeChance(ofKind);
    const rowOf = (isNamed: boolean) =>
      [...AGES, Number.POSITIVE_INFINITY].map((limit, place) => {
        const from = place === 0 ? 0 : (AGES[place - 1] as number);
        const own = ofKind.filter((need) => need.isNamed === isNamed && need.age >= from && need.age < limit);
        const lost = own.filter(({ isLost }) => isLost).length;
        return Math.round((100 * (lost * computeChance(own) + PRIOR * whole)) / (lost + PRIOR)) / 100;
      });
    return [kind, { named: rowOf(true), unnamed: rowOf(false) }] as const;
  });
  const fetches = new Map<string, ToolFetch>();
  const outputs = new Map<string, number>();
  for (const { isLost, point, fetch, output } of needs) {
    if (!isLost || !fetch) continue;
    fetches.set(`${point} ${fetch.id}`, fetch);
    outputs.set(`${point} ${output.id}`, output.tokens);
  }
  const sum = (counts: Iterable<number>) => [...counts].reduce((total, count) => total + count, 0);
  const round = (value: number) => Math.round(100 * value) / 100;
  const all = [...fetches.values()];
  return {
    ages: AGES,
    chances: Object.fromEntries(rows) as Record<ClueKind, (typeof rows)[number][1]>,
    callsPerOutput: round(fetches.size / outputs.size),
    tokensPerToken: round(sum(all.map(({ tokens }) => tokens)) / sum(outputs.values())),
    callTokens: Math.round(sum(all.map(({ callTokens }) => callTokens)) / all.length),
    requests: REQUESTS,
  };
}

/** Predicts the fetched clues of sessions that were not fitted; `base` is the share fetched without a loss. */
function checkFolds(needs: readonly Need[]): void {
  const sessions = [...new Set(needs.map(({ session }) => session))];
  for (let fold = 0; fold < FOLDS; fold++) {
    const isHeld = ({ session }: Need) => sessions.indexOf(session) % FOLDS === fold;
    const fitted = needs.filter((need) => !isHeld(need));
    const table = fitTable(fitted);
    const held = needs.filter((need) => isHeld(need) && need.isLost);
    const present = new Map(
      KINDS.map((kind) => {
        const own = fitted.filter((need) => need.kind === kind && !need.isLost);
        return [kind, own.filter(({ fetch }) => fetch).length / own.length];
      }),
    );
    const predicted = held.reduce((sum, { kind, age, isNamed }) => {
      const place = AGES.findIndex((limit) => age < limit);
      const chance = table.chances[kind][isNamed ? "named" : "unnamed"][place < 0 ? AGES.length : place] ?? 0;
      const base = present.get(kind) ?? 0;
      return sum + base + (1 - base) * chance;
    }, 0);
    const observed = held.filter(({ fetch }) => fetch).length;
    process.stderr.write(
      `fold ${fold + 1}: ${held.length} lost clues used, ${observed} fetched again, ${Math.round(predicted)} predicted (${(predicted / observed).toFixed(2)})\n`,
    );
  }
}

const folder = process.argv[2] ?? join(process.env.LONGHAUL_DATA ?? "../shared/data", "transcripts");
await using kernel = await openKernel({ path: ":memory:" });
const { sources } = await importSources(kernel, [folder]);
const needs: Need[] = [];
for (const id of new Set(sources.map(({ session }) => session)))
  for await (const need of listNeeds(kernel, id)) needs.push(need);
const pointsOf = (isLost: boolean) =>
  new Set(needs.flatMap((one) => (one.isLost === isLost ? [one.point] : []))).size;
process.stderr.write(
  `${pointsOf(true)} compactions, ${pointsOf(false)} other points, ${new Set(needs.map(({ session }) => session)).size} sessions, ${needs.filter(({ isLost }) => isLost).length} lost clues that were used\n`,
);
for (const kind of KINDS)
  for (const isLost of [true, false]) {
    const own = needs.filter((need) => need.kind === kind && need.isLost === isLost);
    const share = own.filter(({ fetch }) => fetch).length / own.length;
    process.stderr.write(
      `${kind}, ${isLost ? "lost" : "still in the window"}: ${own.length} used, ${(100 * share).toFixed(1)}% fetched again before\n`,
    );
  }
checkFolds(needs);
process.stdout.write(`${JSON.stringify(fitTable(needs), null, 2)}\n`);
