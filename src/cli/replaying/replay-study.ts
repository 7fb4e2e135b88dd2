import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  longhaul,
  POLICIES,
  type Policy,
  PROTOCOL,
  type Protocol,
  type RecordedMessage,
  type ReplayedRequest,
  type ReplayScore,
  replay,
  type ThinkingRule,
} from "../../kernel/faces/window.ts";
import { type Kernel, type Message, openKernel, type SessionId, textOfMessage } from "../../kernel/index.ts";
import { CACHE_WAYS, type CacheWay, PauseSample, startKeeping } from "../../server/cache/pauses.ts";
import { formatShare } from "../terminal/format-count.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import type { MarkedQuestion } from "./read-questions.ts";
import { type ComparedScore, type ReplayTotals, sumReplays } from "./replay-totals.ts";

/** Replays conversations one after another and collects their scores. */
export class ReplayStudy {
  readonly #policies: readonly Policy[];
  readonly #windows: readonly number[];
  readonly #folders: { readonly dump?: string; readonly picture?: string };
  readonly #thinking: ThinkingRule | undefined;
  readonly #scores = new Map<string, ComparedScore[]>();

  constructor(
    policies: readonly Policy[],
    windows: readonly number[],
    folders: { readonly dump?: string; readonly picture?: string },
    thinking?: ThinkingRule,
  ) {
    this.#policies = policies;
    this.#windows = windows;
    this.#folders = folders;
    this.#thinking = thinking;
  }

  /** Replays a conversation; `tokenPrice` is in US dollars per uncached input token. */
  async replay(
    id: SessionId,
    conversation: readonly RecordedMessage[],
    { tokenPrice, protocol = PROTOCOL }: { readonly tokenPrice?: number; readonly protocol?: Protocol } = {},
  ): Promise<void> {
    const none = POLICIES.find(({ name }) => name === "none") as Policy;
    const unbounded = replay(conversation, none, Number.POSITIVE_INFINITY, { protocol });
    for (const window of this.#windows) {
      const courses: PictureCurve[] = [];
      for (const policy of this.#policies) {
        const requests: ReplayedRequest[] = [];
        const keeps = this.#folders.dump !== undefined || this.#folders.picture !== undefined;
        const onRequest = (request: ReplayedRequest) => {
          if (keeps) requests.push(request);
        };
        const thinking = this.#thinking;
        const score = replay(conversation, policy, window, { protocol, onRequest, thinking });
        const key = `${policy.name}\n${window}`;
        this.#scores.set(key, [...(this.#scores.get(key) ?? []), { score, unbounded, tokenPrice }]);
        courses.push({ name: policy.name, points: requests });
        await this.#dump(id, policy.name, window, requests);
      }
      await this.#draw(id, window, courses);
    }
  }

  totals(): readonly ReplayTotals[] {
    return [...this.#scores].map(([key, compared]) => {
      const [policy = "", window] = key.split("\n");
      return sumReplays(policy, Number(window), compared);
    });
  }

  async #dump(
    id: SessionId,
    policy: string,
    window: number,
    requests: readonly ReplayedRequest[],
  ): Promise<void> {
    const { dump } = this.#folders;
    if (dump === undefined) return;
    await mkdir(dump, { recursive: true });
    const lines = requests.map(({ window: slots, ...facts }) => {
      const shown = slots.map(({ seq, isNote, message }) => ({
        entry: `${id}#${seq}`,
        ...(isNote && { isNote }),
        role: message.role,
        parts: message.parts,
        text: textOfMessage(message),
      }));
      return JSON.stringify({ ...facts, window: shown });
    });
    await writeFile(join(dump, `${toFileName(id)}.${policy}.${window}.jsonl`), `${lines.join("\n")}\n`);
  }

  async #draw(id: SessionId, window: number, courses: readonly PictureCurve[]): Promise<void> {
    const { picture } = this.#folders;
    if (picture === undefined) return;
    await mkdir(picture, { recursive: true });
    await writeFile(join(picture, `${toFileName(id)}.${window}.svg`), drawReplayPicture(id, courses));
  }
}

function toFileName(id: SessionId): string {
  return id.replace(/[^\w.-]+/g, "_").slice(0, 120);
}

interface PicturePoint {
  readonly tokens: number;
  readonly isEdited: boolean;
}

/** Window sizes under one policy, request by request. */
interface PictureCurve {
  readonly name: string;
  readonly points: readonly PicturePoint[];
}

const WIDTH = 960;
const HEIGHT = 420;
const MARGIN = { left: 64, right: 160, top: 24, bottom: 40 };
const COLORS = ["#1f6feb", "#d29922", "#2da44e", "#cf222e", "#8250df", "#57606a"];

/** Draws an SVG of the window size over a session's requests: one line per policy, edits marked. */
function drawReplayPicture(title: string, courses: readonly PictureCurve[]): string {
  const requests = Math.max(1, ...courses.map(({ points }) => points.length));
  const peak = courses
    .flatMap(({ points }) => points)
    .reduce((most, { tokens }) => Math.max(most, tokens), 1);
  const x = (index: number) =>
    MARGIN.left + (index / Math.max(1, requests - 1)) * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (tokens: number) =>
    HEIGHT - MARGIN.bottom - (tokens / peak) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const round = (value: number) => value.toFixed(1);
  const lines = courses.map(({ name, points }, index) => {
    const colour = COLORS[index % COLORS.length];
    const path = points
      .map(({ tokens }, at) => `${at === 0 ? "M" : "L"}${round(x(at))} ${round(y(tokens))}`)
      .join("");
    const marks = points.flatMap(({ tokens, isEdited }, at) =>
      isEdited ? [`<circle cx="${round(x(at))}" cy="${round(y(tokens))}" r="2.5" fill="${colour}"/>`] : [],
    );
    const key = `<text x="${WIDTH - MARGIN.right + 12}" y="${MARGIN.top + 14 + index * 20}" fill="${colour}">${escapeXml(name)}</text>`;
    return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>${marks.join("")}${key}`;
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = round(y(peak * share));
    const label = `${Math.round((peak * share) / 1_000)}k`;
    return `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${at}" y2="${at}" stroke="#d0d7de"/><text x="${MARGIN.left - 8}" y="${at}" text-anchor="end" dominant-baseline="middle">${label}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    `<text x="${MARGIN.left}" y="16" font-weight="bold">${escapeXml(title)}: tokens per request, edits marked</text>`,
    ...ticks,
    ...lines,
    `<text x="${MARGIN.left}" y="${HEIGHT - 12}">1</text>`,
    `<text x="${WIDTH - MARGIN.right}" y="${HEIGHT - 12}" text-anchor="end">${requests} requests</text>`,
    "</svg>",
    "",
  ].join("\n");
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Settings of the window for a question. */
export interface EvidenceCase {
  readonly policy: string;
  readonly window: number;
  /** True if evicted content may be paged back. */
  readonly isPaging: boolean;
}

/** Evidence found in the windows of a number of questions. */
export interface EvidenceScore extends EvidenceCase {
  readonly questions: number;
  /** Questions whose whole evidence was in the window verbatim. */
  readonly whole: number;
  readonly sentTokens: number;
}

const MODEL = "replayed";
const MAX_OUTPUT_TOKENS = 4_000;

/** Asks each question at the end of its conversation under each setting and looks for the evidence in the window. */
export async function scoreEvidence(
  questions: readonly MarkedQuestion[],
  settings: readonly EvidenceCase[],
  onQuestion: (done: number) => void = () => undefined,
): Promise<readonly EvidenceScore[]> {
  const sums = settings.map((setting) => ({ ...setting, questions: 0, whole: 0, sentTokens: 0 }));
  for (const [index, question] of questions.entries()) {
    onQuestion(index);
    await using kernel = await openKernel({ path: ":memory:" });
    for (const [at, setting] of settings.entries()) {
      const { isWhole, tokens } = await askQuestion(kernel, `${at}`, question, setting);
      const sum = sums[at] as (typeof sums)[number];
      sum.questions++;
      sum.sentTokens += tokens;
      if (isWhole) sum.whole++;
    }
  }
  return sums;
}

async function askQuestion(
  kernel: Kernel,
  id: string,
  { conversation, question, evidence }: MarkedQuestion,
  { policy, window, isPaging }: EvidenceCase,
): Promise<{ readonly isWhole: boolean; readonly tokens: number }> {
  const session = await kernel.session(id);
  await session.appendAll(conversation.map(({ message }) => message));
  await session.append({ role: "user", text: question });
  const fitted = await session
    .window({
      model: MODEL,
      policy,
      models: { [MODEL]: { window, maxOutput: MAX_OUTPUT_TOKENS } },
      oversize: "clip",
      paging: isPaging,
    })
    .fit();
  return { isWhole: evidence.every((text) => isInMessages(text, fitted.messages)), tokens: fitted.tokens };
}

function isInMessages(text: string, messages: readonly Message[]): boolean {
  return messages.some((message) => textOfMessage(message).includes(text));
}

/** Times the price of an input token that a write for an hour costs at Anthropic. */
const HOUR_PRICE = 2;

/** The sums of one way to keep the cache. */
interface CacheWayTotals {
  readonly way: CacheWay;
  /** Relative to the policy with a lifetime of five minutes, which is today's. */
  readonly costShare: number;
  readonly identifiers: number;
  readonly lines: number;
  readonly sessions: number;
  /** Sessions that cost more than without any edit and with caches of five minutes, and the highest such ratio. */
  readonly dearerSessions: number;
  readonly dearest: number;
}

/** Replays conversations with their real times under each way to keep the provider's cache. */
export class CacheStudy {
  readonly #window: number;
  /** The pauses of the conversations before: nothing is known of the future. */
  readonly #pauses = new PauseSample();
  readonly #scores = new Map<CacheWay, { readonly score: ReplayScore; readonly plain: ReplayScore }[]>();

  constructor(window: number) {
    this.#window = window;
  }

  replay(conversation: readonly RecordedMessage[], protocol: Protocol): void {
    const { readPrice: read, writePrice: write } = protocol;
    const prices = { read, write, writeHour: write > 1 ? HOUR_PRICE : write };
    const none = POLICIES.find(({ name }) => name === "none") as Policy;
    const plain = replay(conversation, none, Number.POSITIVE_INFINITY, { protocol });
    const sent: ReplayedRequest[] = [];
    for (const way of CACHE_WAYS) {
      const keepCache = startKeeping(way, this.#pauses, prices);
      const onRequest = (request: ReplayedRequest) => {
        if (way === "five minutes") sent.push({ ...request, window: [] });
      };
      const score = replay(conversation, longhaul(), this.#window, { protocol, keepCache, onRequest });
      this.#scores.set(way, [...(this.#scores.get(way) ?? []), { score, plain }]);
    }
    for (const [index, { at, tokens }] of sent.entries()) {
      const before = sent[index - 1];
      if (before) this.#pauses.observe(at - before.at, before.tokens, tokens);
    }
    this.#pauses.addEnd();
  }

  totals(): readonly CacheWayTotals[] {
    const today = this.#sum("five minutes");
    return CACHE_WAYS.map((way) => {
      const scores = this.#scores.get(way) ?? [];
      const ratios = scores.map(({ score, plain }) => score.cost / Math.max(1, plain.cost));
      const share = (of: (score: ReplayScore) => { readonly used: number; readonly kept: number }) => {
        const used = scores.reduce((sum, { score }) => sum + of(score).used, 0);
        return used === 0 ? 1 : scores.reduce((sum, { score }) => sum + of(score).kept, 0) / used;
      };
      return {
        way,
        costShare: this.#sum(way) / Math.max(1, today),
        identifiers: share(({ identifiers }) => identifiers),
        lines: share(({ lines }) => lines),
        sessions: scores.length,
        dearerSessions: ratios.filter((ratio) => ratio > 1.0005).length,
        dearest: ratios.reduce((most, ratio) => Math.max(most, ratio), 0),
      };
    });
  }

  #sum(way: CacheWay): number {
    return (this.#scores.get(way) ?? []).reduce((sum, { score }) => sum + score.cost, 0);
  }
}

const COLUMNS: readonly Column[] = [
  { title: "cache" },
  ...["cost", "ids", "lines", "dearer than nothing", "dearest"].map((title) => ({
    title,
    align: "right" as const,
  })),
];

/** Formats the totals of a study; foresight is a bound that nobody reaches. */
export function renderCacheStudy(
  totals: readonly CacheWayTotals[],
  look: Parameters<typeof renderTable>[2],
): readonly string[] {
  const rows = totals.map((one) => [
    one.way,
    one.costShare.toFixed(3),
    `${(100 * one.identifiers).toFixed(1)}%`,
    `${(100 * one.lines).toFixed(1)}%`,
    formatShare(one.dearerSessions, one.sessions) || "0%",
    one.dearest.toFixed(2),
  ]);
  return [
    "",
    "policy longhaul with real times; cost relative to five minutes:",
    ...renderTable(COLUMNS, rows, look),
  ];
}
