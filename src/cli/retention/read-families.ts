import { readPinnedEntries } from "../../conversation/read-pinned-entries.ts";
import type { Kernel, SessionId, SessionRecord } from "../../index.ts";
import { findOrigin } from "../../model/session-origin.ts";
import { findSessionOwner, mapPersonNames } from "../../model/session-owner.ts";
import { listSessions } from "../find-session.ts";
import { listActiveTasks } from "../tasks/collect-tasks.ts";
import type { RetentionFamily } from "./retention-plan.ts";

/** A conversation that was used within this time counts as in use. */
const IN_USE_MS = 60 * 60 * 1_000;
/** Sessions of memories hold what people asked to remember; "longhaul forget" removes those. */
const MEMORY_PREFIX = "memory:";

/** Reads all conversations with their sizes; `mayGo` tells for which of them pins and drafts matter. */
export async function readFamilies(
  kernel: Kernel,
  now: number,
  mayGo: (family: RetentionFamily) => boolean,
): Promise<readonly RetentionFamily[]> {
  const records = new Map<SessionId, SessionRecord>();
  for await (const record of listSessions(kernel)) records.set(record.id, record);
  const members = new Map<SessionId, { ids: SessionId[]; usedAt: number; sizeBytes: number }>();
  for await (const { session, usedAt, payloadBytes, blobBytes } of kernel.maintenance.sessionSizes()) {
    if (session.startsWith(MEMORY_PREFIX)) continue;
    const root = findRoot(session, records);
    const family = members.get(root) ?? { ids: [], usedAt: 0, sizeBytes: 0 };
    family.ids.push(session);
    family.usedAt = Math.max(family.usedAt, usedAt);
    family.sizeBytes += payloadBytes + blobBytes;
    members.set(root, family);
  }
  const busy = new Set((await listActiveTasks(kernel)).map(({ session }) => session));
  const names = mapPersonNames(await kernel.team.people());
  const families: RetentionFamily[] = [];
  for (const [root, { ids, usedAt, sizeBytes }] of members) {
    const record = records.get(root);
    const { agent } = record ? findOrigin(record) : {};
    const family: RetentionFamily = {
      root,
      ...(record?.title !== undefined && { title: record.title }),
      ...(agent !== undefined && { agent }),
      person: findSessionOwner(root, names),
      sessions: ids,
      usedAt,
      sizeBytes,
    };
    const isRecent = now - usedAt < IN_USE_MS || ids.some((id) => busy.has(id));
    const keptBecause = isRecent ? "in use" : mayGo(family) ? await findReason(kernel, ids) : undefined;
    families.push({ ...family, ...(keptBecause && { keptBecause }) });
  }
  return families;
}

async function findReason(
  kernel: Kernel,
  ids: readonly SessionId[],
): Promise<"pinned" | "in use" | undefined> {
  for (const id of ids) {
    await using session = await kernel.session(id);
    if ((await session.drafts()).length > 0) return "in use";
    if ((await readPinnedEntries(session)).length > 0) return "pinned";
  }
  return undefined;
}

/** True if a conversation was used after its family was read. */
export async function hasBeenUsed(kernel: Kernel, { sessions, usedAt }: RetentionFamily): Promise<boolean> {
  for (const id of sessions) {
    if (!(await kernel.find(id))) continue;
    await using session = await kernel.session(id);
    const { seq, at } = await session.head();
    if (seq > 0 && at > usedAt) return true;
  }
  return false;
}

function findRoot(id: SessionId, records: ReadonlyMap<SessionId, SessionRecord>): SessionId {
  let root = id;
  for (let parent = records.get(id)?.parent; parent !== undefined; parent = records.get(parent)?.parent)
    root = parent;
  return root;
}
