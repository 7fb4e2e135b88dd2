import { pickPublicMeta } from "../../conversation/public-meta.ts";
import { readRequestUsage } from "../../conversation/spending/request-usage.ts";
import { UsageSums } from "../../conversation/spending/usage-sums.ts";
import type { Kernel, Receipt, Session, SessionRecord } from "../../index.ts";
import { listOwnSessions } from "../identity/list-own-sessions.ts";
import { formatAnnouncement } from "../observe/edit-announcement.ts";
import type { PageReply } from "./page-reply.ts";
import {
  checkMethod,
  createNoSessionFault,
  isVisible,
  type PageRequest,
  readSessionArgument,
  readWholeArgument,
} from "./page-request.ts";

const LIST_LIMITS = { otherwise: 50, max: 200 };
const ENTRY_LIMITS = { otherwise: 50, max: 500 };
const MAX_OVERLAYS = 20;

/** The reader's sessions, newest first; `before` is the cursor for the next page. */
export async function buildSessionsPage(kernel: Kernel, callRequest: PageRequest): Promise<PageReply> {
  checkMethod(callRequest, "GET", "HEAD");
  if (callRequest.rest !== "") return buildSessionPage(kernel, callRequest);
  const limit = readWholeArgument(callRequest, "limit", LIST_LIMITS);
  const before = callRequest.query.get("before") ?? undefined;
  if (before !== undefined && !(isVisible(callRequest, before) && (await kernel.find(before))))
    throw createNoSessionFault(before);
  const page = await listOwnSessions(kernel, callRequest.prefixes, {
    limit: limit + 1,
    ...(before !== undefined && { before }),
  });
  const found = page.slice(0, limit);
  const hasMore = page.length > limit;
  const sessions: object[] = [];
  for (const record of found) {
    await using session = await kernel.session(record.id);
    sessions.push(await describeSession(session, record));
  }
  return { json: { sessions, ...(hasMore && { before: found.at(-1)?.id }) } };
}

/** One session: its window, its overlays, and a page of its entries. */
async function buildSessionPage(kernel: Kernel, callRequest: PageRequest): Promise<PageReply> {
  const id = readSessionArgument(callRequest);
  const record = await kernel.find(id);
  if (!record) throw createNoSessionFault(id);
  const limit = readWholeArgument(callRequest, "limit", ENTRY_LIMITS);
  const cursor = callRequest.query.get("before");
  await using session = await kernel.session(id);
  const { model: lastModel, ...frame } = await session.lastCall();
  const model = callRequest.query.get("model") ?? lastModel;
  const memories = frame.memories === undefined ? [] : await kernel.memories(frame.memories).pins();
  const { tokens, messages, parts, limits, cache } = await session
    .window({ ...frame, model: model ?? "unknown" })
    .look();
  const overlays = await session.overlays.list(MAX_OVERLAYS);
  const sums = new UsageSums();
  for await (const spent of readRequestUsage(session, (model) => kernel.modelFacts(model))) sums.add(spent);
  const { entries, before } = await session.page({ limit, ...(cursor !== null && { before: cursor }) });
  return {
    json: {
      session: await describeSession(session, record),
      model: model ?? null,
      window: { tokens, messages: messages.length, parts, limits, cache },
      usage: { session: sums.total, savings: sums.savings },
      memories:
        memories.length === 0 ? null : { agent: frame.memories, tokens: parts.memories, facts: memories },
      overlays: overlays.map(({ entry: { seq, at, author, reason, receipt, edit }, isHolding }) => ({
        ...(receipt && edit.type === "plan" && { announcement: announceOverlay(id, seq, receipt) }),
        seq,
        at,
        author,
        reason,
        receipt,
        type: edit.type,
        isHolding,
      })),
      entries,
      before,
    },
  };
}

function announceOverlay(session: string, overlay: number, receipt: Receipt): string {
  const { tokens, breakEvenCalls, isForced } = receipt;
  return formatAnnouncement({
    session,
    overlay,
    tokensBefore: tokens.without,
    tokensAfter: tokens.with,
    breakEvenCalls,
    isForced,
  });
}

async function describeSession(session: Session, record: SessionRecord): Promise<object> {
  const { id, title, parent, relation, createdAt, meta } = record;
  const head = await session.head();
  const lastEntryAt = head.seq > 0 ? head.at : undefined;
  return {
    id,
    title,
    parent,
    relation,
    createdAt,
    entries: head.seq,
    lastEntryAt,
    meta: pickPublicMeta(meta),
  };
}
