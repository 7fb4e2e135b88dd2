import { lastModel } from "../../conversation/last-model.ts";
import type { Kernel, Session, SessionRecord } from "../../index.ts";
import type { PageAnswer } from "./answer.ts";
import { checkMethod, noSession, type PageQuestion, sessionArgument, wholeArgument } from "./asked.ts";

const LISTED = { otherwise: 50, max: 200 };
const ENTRIES = { otherwise: 50, max: 500 };
const OVERLAYS = 20;

/** The reader's sessions, newest first; `before` is the cursor for the next page. */
export async function sessionsPage(kernel: Kernel, asked: PageQuestion): Promise<PageAnswer> {
  checkMethod(asked, "GET", "HEAD");
  if (asked.rest !== "") return sessionPage(kernel, asked);
  const limit = wholeArgument(asked, "limit", LISTED);
  const before = asked.query.get("before") ?? undefined;
  if (before !== undefined && !(before.startsWith(asked.prefix) && (await kernel.find(before))))
    throw noSession(before);
  const page = await kernel.sessions({
    limit: limit + 1,
    ...(asked.prefix !== "" && { prefix: asked.prefix }),
    ...(before !== undefined && { before }),
  });
  const found = page.slice(0, limit);
  const hasMore = page.length > limit;
  const sessions: object[] = [];
  for (const record of found) {
    await using session = await kernel.session(record.id);
    sessions.push(await listed(session, record));
  }
  return { json: { sessions, ...(hasMore && { before: found.at(-1)?.id }) } };
}

/** One session: its window, its overlays, and a page of its entries. */
async function sessionPage(kernel: Kernel, asked: PageQuestion): Promise<PageAnswer> {
  const id = sessionArgument(asked);
  const record = await kernel.find(id);
  if (!record) throw noSession(id);
  const limit = wholeArgument(asked, "limit", ENTRIES);
  const cursor = asked.query.get("before");
  await using session = await kernel.session(id);
  const model = asked.query.get("model") ?? (await lastModel(session));
  const { tokens, messages, parts, limits, cache } = await session
    .window({ model: model ?? "unknown" })
    .look();
  const overlays = await session.overlays.list(OVERLAYS);
  const { entries, before } = await session.page({ limit, ...(cursor !== null && { before: cursor }) });
  return {
    json: {
      session: await listed(session, record),
      model: model ?? null,
      window: { tokens, messages: messages.length, parts, limits, cache },
      overlays: overlays.map(({ entry: { seq, at, author, reason, receipt, edit }, isHolding }) => ({
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

async function listed(session: Session, record: SessionRecord): Promise<object> {
  const { id, title, parent, relation, createdAt, meta } = record;
  const head = await session.head();
  const lastEntryAt = head.seq > 0 ? head.at : undefined;
  return { id, title, parent, relation, createdAt, entries: head.seq, lastEntryAt, meta };
}
