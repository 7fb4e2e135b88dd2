import type { Kernel, SessionId, SessionRecord } from "../../../kernel/index.ts";
import { parseSessionKey } from "../../../model/session-key.ts";
import { toObject } from "../../../wire/fields.ts";
import { getMessageKey } from "./canonical-key.ts";
import { buildReplyPlace } from "./conversation-keys.ts";

/**
 * The conversations into which earlier versions have written replies of another one, whose id begins theirs: "repo/feature"
 * got those of "repo". The keys of such replies name the conversation that they belong to.
 */
export async function findMixedConversations(
  kernel: Pick<Kernel, "places" | "session">,
  records: AsyncIterable<SessionRecord>,
): Promise<readonly SessionId[]> {
  const mixed: SessionId[] = [];
  for await (const { id, meta } of records)
    if (toObject(meta?.gateway)?.kind === "main" && (await hasForeignReply(kernel, id))) mixed.push(id);
  return mixed;
}

async function hasForeignReply(kernel: Pick<Kernel, "places" | "session">, id: SessionId): Promise<boolean> {
  const scopes = listShorterIds(id);
  if (scopes.length === 0) return false;
  const places = new Map<number, Set<string>>();
  for (const { seq, key } of await kernel.places.ofSession(id))
    places.set(seq, (places.get(seq) ?? new Set()).add(key));
  await using session = await kernel.session(id);
  for (const [seq, keys] of places) {
    const entry = await session.entry(seq);
    if (entry?.kind !== "message" || entry.message.role !== "assistant") continue;
    const reply = getMessageKey(entry.message);
    if (scopes.some((scope) => keys.has(buildReplyPlace(scope, reply)))) return true;
  }
  return false;
}

/** The ids of conversations that the id of a conversation begins with. */
function listShorterIds(id: SessionId): readonly SessionId[] {
  const { person, client, own = "", child } = parseSessionKey(id) ?? {};
  if (child !== undefined) return [];
  const ends = [...own.matchAll(/\//g)].map(({ index }) => index);
  return ends.map((end) => `${person}/${client}:${own.slice(0, end)}`);
}
