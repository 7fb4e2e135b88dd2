import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  POLICIES,
  type Policy,
  PROTOCOL,
  type Protocol,
  type RecordedMessage,
  type ReplayedRequest,
  replay,
} from "../../kernel/faces/window.ts";
import { type SessionId, textOfMessage } from "../../kernel/index.ts";
import { type ComparedScore, type ReplayTotals, sumReplays } from "./replay-totals.ts";

/** Replays conversations one after another and collects their scores. */
export class ReplayStudy {
  readonly #policies: readonly Policy[];
  readonly #windows: readonly number[];
  readonly #folders: { readonly dump?: string; readonly picture?: string };
  readonly #scores = new Map<string, ComparedScore[]>();

  constructor(
    policies: readonly Policy[],
    windows: readonly number[],
    folders: { readonly dump?: string; readonly picture?: string },
  ) {
    this.#policies = policies;
    this.#windows = windows;
    this.#folders = folders;
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
        const score = replay(conversation, policy, window, { protocol, onRequest });
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
