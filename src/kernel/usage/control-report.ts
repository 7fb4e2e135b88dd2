import { getConversationId } from "../../model/session-key.ts";
import { findOrigin } from "../../model/session-origin.ts";
import { RereadCounter } from "../faces/window.ts";
import {
  type Json,
  type Kernel,
  type Session,
  type SessionId,
  type SessionRecord,
  textOfMessage,
} from "../index.ts";
import { readOverflows } from "./overflow-count.ts";
import { readRequestUsage } from "./request-usage.ts";

/** Conversations that each arm needs before a difference is worth reading. */
const MIN_CONVERSATIONS = 20;

const OUTCOMES = [
  "tokens",
  "cost",
  "steps",
  "rereads",
  "overflows",
  "corrections",
] as const satisfies readonly (keyof ConversationOutcome)[];

/** The means of one figure in both arms, per conversation, and their difference: edited minus control. */
export interface ControlFigure extends BootstrapInterval {
  readonly name: (typeof OUTCOMES)[number];
  readonly control: number;
  readonly edited: number;
}

/** Both arms of the conversations of one agent with one model. */
export interface ControlGroup {
  /** Undefined for all agents, or all models. */
  readonly agent: string | undefined;
  readonly model: string | undefined;
  /** Number of conversations in each arm: the denominators of the means. */
  readonly conversations: { readonly control: number; readonly edited: number };
  readonly isEnough: boolean;
  readonly figures: readonly ControlFigure[];
}

/** A comparison of edited conversations with those that were left alone. */
export interface ControlReport {
  readonly basis: "measured";
  readonly minConversations: number;
  /** All conversations first, then each agent and model, largest first. */
  readonly groups: readonly ControlGroup[];
}

interface ArmConversation extends MeasuredConversation {
  readonly arm: "control" | "edited";
  readonly agent: string;
}

interface ReportOptions {
  /** Sessions to compare; those without an arm are left out. */
  readonly records: AsyncIterable<SessionRecord>;
  /** Only conversations that began since then. */
  readonly since?: number;
  readonly signal?: AbortSignal;
}

/**
 * Compares the arms of a control group by the usage that providers reported. Secondary conversations count with their
 * main one.
 */
export async function buildControlReport(
  kernel: Kernel,
  { records, since = 0, signal }: ReportOptions,
): Promise<ControlReport> {
  const mains: { readonly record: SessionRecord; readonly arm: "control" | "edited" }[] = [];
  const others: SessionRecord[] = [];
  for await (const record of records) {
    const { kind, arm } = readArm(record);
    if ((arm !== "control" && arm !== "edited") || record.createdAt < since) continue;
    if (kind === "main") mains.push({ record, arm });
    else others.push(record);
  }
  const measured: ArmConversation[] = [];
  for (const { record, arm } of mains) {
    const secondary = others.filter((other) => isSecondary(other, record.id)).map(({ id }) => id);
    const conversation = await measureConversation(kernel, [record.id, ...secondary], signal);
    measured.push({ ...conversation, arm, agent: findOrigin(record).agent ?? "(unknown)" });
  }
  const groups = Map.groupBy(measured, ({ agent, model }) => JSON.stringify([agent, model ?? "(unknown)"]));
  const single = [...groups]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([key, own]) => {
      const [agent, model] = JSON.parse(key) as [string, string];
      return buildGroup(own, agent, model);
    });
  return {
    basis: "measured",
    minConversations: MIN_CONVERSATIONS,
    groups: measured.length === 0 ? [] : [buildGroup(measured, undefined, undefined), ...single],
  };
}

/** True if a session is a secondary one of a conversation, which may be a secondary one itself. */
function isSecondary({ id, parent }: SessionRecord, main: SessionId): boolean {
  return parent === main || getConversationId(id) === main;
}

function buildGroup(
  measured: readonly ArmConversation[],
  agent: string | undefined,
  model: string | undefined,
): ControlGroup {
  const ofArm = (arm: "control" | "edited") => measured.filter((one) => one.arm === arm);
  const [control, edited] = [ofArm("control"), ofArm("edited")];
  return {
    agent,
    model,
    conversations: { control: control.length, edited: edited.length },
    isEnough: Math.min(control.length, edited.length) >= MIN_CONVERSATIONS,
    figures: OUTCOMES.map((name) => {
      const valuesOf = (some: readonly ArmConversation[]) =>
        some
          .filter(({ unpricedRequests }) => name !== "cost" || unpricedRequests === 0)
          .map((one) => one[name]);
      const [before, after] = [valuesOf(control), valuesOf(edited)];
      return {
        name,
        control: computeMean(before),
        edited: computeMean(after),
        ...computeBootstrapInterval(before, after),
      };
    }),
  };
}

/** The kind and the arm that the gateway stored with a session. */
function readArm({ meta }: SessionRecord): { readonly kind?: unknown; readonly arm?: unknown } {
  const stored = meta?.gateway;
  return typeof stored === "object" && stored !== null ? (stored as { readonly [field: string]: Json }) : {};
}

/** Figures of a conversation that edits may change. */
interface ConversationOutcome {
  /** All tokens that the provider counted: prompt, cached or not, and output. */
  readonly tokens: number;
  /** US dollars, including the cost of edits: cache writes and summaries. */
  readonly cost: number;
  /** Requests. */
  readonly steps: number;
  /** Reads of files that the agent had read before and not changed since. */
  readonly rereads: number;
  /** Overflow errors that the client got. */
  readonly overflows: number;
  /** User messages that reject the work before them. */
  readonly corrections: number;
}

/** A measured conversation. */
interface MeasuredConversation extends ConversationOutcome {
  /** The model of most requests; undefined if none was reported. */
  readonly model: string | undefined;
  /** Requests without a known price; `cost` excludes them. */
  readonly unpricedRequests: number;
}

const PAGE_ENTRIES = 500;

/** Measures a conversation with its secondary conversations. */
async function measureConversation(
  kernel: Kernel,
  ids: readonly SessionId[],
  signal?: AbortSignal,
): Promise<MeasuredConversation> {
  const sums = {
    tokens: 0,
    cost: 0,
    steps: 0,
    rereads: 0,
    overflows: 0,
    corrections: 0,
    unpricedRequests: 0,
  };
  const models = new Map<string, number>();
  for (const id of ids) {
    signal?.throwIfAborted();
    await using session = await kernel.session(id);
    for await (const { model, totals } of readRequestUsage(session, (name) => kernel.modelFacts(name))) {
      const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = totals;
      sums.tokens += inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens;
      sums.cost += totals.cost;
      sums.steps += totals.requests;
      sums.unpricedRequests += totals.unpricedRequests;
      if (model !== undefined) models.set(model, (models.get(model) ?? 0) + 1);
    }
    const { rereads, corrections } = await countInMessages(session);
    sums.rereads += rereads;
    sums.corrections += corrections;
    sums.overflows += await readOverflows(session);
  }
  const [most] = [...models].sort(([, one], [, other]) => other - one);
  return { ...sums, model: most?.[0] };
}

async function countInMessages(
  session: Session,
): Promise<Pick<ConversationOutcome, "rereads" | "corrections">> {
  const counter = new RereadCounter();
  let corrections = 0;
  let hasReplied = false;
  for (let from = 1; ; ) {
    const entries = await session.read({ from, limit: PAGE_ENTRIES, kinds: ["message"] });
    for (const entry of entries) {
      if (entry.kind !== "message") continue;
      const { message } = entry;
      counter.observe(message);
      if (message.role === "assistant") hasReplied = true;
      else if (message.role === "user" && hasReplied && isCorrection(textOfMessage(message))) corrections++;
    }
    const last = entries.at(-1);
    if (!last || entries.length < PAGE_ENTRIES) return { rereads: counter.count, corrections };
    from = last.seq + 1;
  }
}

const EN_OPENING =
  /^(?:no\b(?! problem| worries| need)|nope\b|wrong\b|stop\b|undo\b|revert\b|wait\b|actually,|that(?:'s| is|'s still| is still) (?:not|wrong|incorrect)|this is (?:not|wrong|still)|not what\b|don'?t\b|do not\b|you (?:forgot|missed|didn'?t|did not|broke|removed|deleted|ignored|should(?:n'?t| not| have))|i (?:said|asked|meant|told you|already (?:said|told))|again[,:]|still (?:not|broken|fail|wrong|the same)|why (?:did|do|didn'?t) you|it (?:still )?(?:doesn'?t|does not) work)/i;
const ZH_OPENING =
  /^(?:不对|不是|错了|错的|别|不要|停|撤销|我说|我的意思|还是不|还是错|又错|你忘|你没|为什么你)/;

/** True if a user message opens by rejecting the work before it. A rough sign: good enough to compare groups. */
export function isCorrection(text: string): boolean {
  const words = text.replaceAll(/<([a-z][\w-]*)[^>]*>[\s\S]*?<\/\1>/gi, " ").trim();
  return EN_OPENING.test(words) || ZH_OPENING.test(words);
}

/** A difference of means with its 95 % interval. */
interface BootstrapInterval {
  readonly difference: number;
  readonly low: number;
  readonly high: number;
}

const SAMPLES = 2_000;
const TAIL = 0.025;
const SEED = 0x9e3779b9;

/**
 * The difference of the means of two groups, and the range of 95 % of the differences when both groups are drawn again
 * with replacement. The draws are always the same, so that a report does not change by itself.
 */
export function computeBootstrapInterval(
  one: readonly number[],
  other: readonly number[],
): BootstrapInterval {
  const difference = computeMean(other) - computeMean(one);
  if (one.length === 0 || other.length === 0) return { difference, low: Number.NaN, high: Number.NaN };
  const draw = createDraw();
  const differences = Float64Array.from(
    { length: SAMPLES },
    () => drawMean(other, draw) - drawMean(one, draw),
  );
  differences.sort();
  const at = (share: number) => differences[Math.round(share * (SAMPLES - 1))] as number;
  return { difference, low: at(TAIL), high: at(1 - TAIL) };
}

/** The mean; NaN of nothing. */
function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function drawMean(values: readonly number[], draw: () => number): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++)
    sum += values[Math.floor(draw() * values.length)] as number;
  return sum / values.length;
}

/** Numbers from 0 to 1, from a linear congruence with a good multiplier for 32 bits. */
function createDraw(): () => number {
  let state = SEED;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
