import { escapeLine } from "../escape.ts";
import { formatBytes } from "../format-bytes.ts";
import { formatCount } from "../format-count.ts";
import { formatDollars } from "../format-dollars.ts";
import { formatAge, formatDuration, formatTime } from "../format-time.ts";
import type { Paint } from "../paint.ts";
import { type Column, renderTable } from "../table.ts";
import { fitText } from "../width.ts";
import type { TopConversation, TopState } from "./top-state.ts";

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
export function renderTop(
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
  return `${"█".repeat(full)}${"·".repeat(BAR_COLUMNS - full)} ${shorten(tokens)}/${shorten(window)}`;
}

function shorten(tokens: number): string {
  return tokens >= 1e6 ? `${(tokens / 1e6).toFixed(1)}M` : `${Math.round(tokens / 1e3)}k`;
}

function formatCacheShare(share: number | null): string {
  return share === null ? "–" : `${Math.round(100 * share)}%`;
}
