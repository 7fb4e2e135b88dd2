import type { SessionRecord } from "../index.ts";
import { toObject } from "../wire/fields.ts";

type SessionMeta = NonNullable<SessionRecord["meta"]>;

/** Facts about a thread that people may read; the others identify the conversation. */
const PUBLIC_FIELDS: readonly string[] = ["kind", "client", "agent", "project"];

/** The metadata of a session for people: without the gateway's own marks. */
export function pickPublicMeta(meta: SessionMeta | undefined): SessionMeta | undefined {
  const own = toObject(meta?.gateway);
  if (!meta || !own) return meta;
  const fields = Object.entries(own).filter(([name]) => PUBLIC_FIELDS.includes(name));
  return { ...meta, gateway: Object.fromEntries(fields) } as SessionMeta;
}
