import {
  type Kernel,
  LonghaulError,
  parseEntryId,
  type Session,
  type SessionRecord,
} from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { findMemoryOwner } from "../../../model/session-key.ts";
import { type ApiCaller, isVisibleTo } from "./api-caller.ts";
import { ApiError } from "./api-error.ts";

const PAGE_SESSIONS = 500;

/** True for the session of an agent's memories, which only the routes of memories change. */
export function isMemorySession(id: string): boolean {
  return findMemoryOwner(id) !== undefined;
}

/** Finds a session of a person by its id, with or without the person's prefix; throws SESSION_NOT_FOUND. */
export async function requireRecord(kernel: Kernel, caller: ApiCaller, id: string): Promise<SessionRecord> {
  const prefixes = caller.prefixes ?? (caller.homePrefix === "" ? [] : [caller.homePrefix]);
  const ids = [id, ...prefixes.map((prefix) => `${prefix}${id}`)];
  for (const one of ids) {
    // Ids have at most 256 characters; a prefix may exceed that.
    const record = isVisibleTo(caller, one) && one.length <= 256 ? await kernel.find(one) : undefined;
    if (record) return record;
  }
  throw createNotFoundError(id);
}

/** Opens a session of a person; the caller closes it. */
export async function openOwn(kernel: Kernel, caller: ApiCaller, id: string): Promise<Session> {
  return kernel.session((await requireRecord(kernel, caller, id)).id);
}

/** Opens a session of a person for a change; throws FORBIDDEN for a session of memories. */
export async function openForChange(kernel: Kernel, caller: ApiCaller, id: string): Promise<Session> {
  const record = await requireRecord(kernel, caller, id);
  if (isMemorySession(record.id))
    throw new ApiError(
      "FORBIDDEN",
      `${JSON.stringify(record.id)} holds memories; change them at /api/v1/memories.`,
    );
  return kernel.session(record.id);
}

/**
 * An entry of a person, by its seq in a session or by its id; throws ENTRY_NOT_FOUND for an entry of somebody else
 * without telling whether it exists, and for a memory outside its own session.
 */
export function checkEntryRef(caller: ApiCaller, session: Session, which: number | string): number | string {
  const number = typeof which === "number" ? which : /^#?(\d{1,10})$/.exec(which)?.[1];
  if (number !== undefined) return Number(number);
  const place = parseEntryId(which as string);
  if (place.session === session.id) return place.seq;
  if (isVisibleTo(caller, place.session) && !isMemorySession(place.session)) return which;
  throw new LonghaulError(
    "ENTRY_NOT_FOUND",
    `There is no entry ${JSON.stringify(String(which).slice(0, 200))}.`,
    {
      details: { id: String(which) },
    },
  );
}

/** Yields the sessions of a person, newest first. */
export async function* listRecords(
  kernel: Pick<Kernel, "sessions" | "find">,
  { prefixes }: Pick<ApiCaller, "prefixes">,
  start?: string,
): AsyncGenerator<SessionRecord> {
  for (let before = start; ; ) {
    const page = { limit: PAGE_SESSIONS, ...dropUndefined({ before }) };
    const lists = prefixes
      ? await Promise.all(prefixes.map((prefix) => kernel.sessions({ ...page, prefix })))
      : [await kernel.sessions(page)];
    const found = lists
      .flat()
      .toSorted((one, other) => other.createdAt - one.createdAt)
      .slice(0, PAGE_SESSIONS);
    yield* found;
    before = found.at(-1)?.id;
    if (found.length < PAGE_SESSIONS) return;
  }
}

function createNotFoundError(id: string): LonghaulError {
  const shown = id.slice(0, 200);
  return new LonghaulError("SESSION_NOT_FOUND", `There is no session ${JSON.stringify(shown)}.`, {
    details: { session: shown },
  });
}
