import { hash } from "node:crypto";
import type { Kernel } from "../../index.ts";
import type { ApiName } from "../api/api.ts";

const MAX_ID = 160;
const DIGEST_DIGITS = 32;

/** Who asks, as far as it says whose conversation a request may be. */
export interface Caller {
  /** Digest of the credential; sessions of two of them never meet. */
  readonly principal: string;
  readonly api: ApiName;
  /** The agent, where it can be told: only for names. */
  readonly client: string | undefined;
  /** The id that the client gave its conversation. */
  readonly explicit: string | undefined;
  /** The sub-agent inside it that asks, where the client says so. */
  readonly agent: string | undefined;
}

/** The name under which a caller's conversations that may belong together are looked for. */
export function familyKey({ principal, api, explicit }: Caller, firstKey: string): string {
  return explicit === undefined ? `${principal} ${api} first ${firstKey}` : `${principal} id ${explicit}`;
}

/** What ids of all sessions of a principal begin with. */
export function sessionPrefix(principal: string): string {
  return `${principal}/`;
}

/** Session id of a family's conversation: the same for the same caller, so that it is found again after a restart. */
export function rootId(caller: Caller, firstKey: string, ordinal: number): string {
  const { principal, api, client = api, explicit } = caller;
  const own = explicit ?? `${firstKey.slice(0, 16)}${ordinal > 1 ? `-${ordinal}` : ""}`;
  return `${sessionPrefix(principal)}${client}:${shortened(own)}`;
}

/** Ids that are too long for a name differ by a digest of the whole. */
function shortened(id: string): string {
  if (id.length <= MAX_ID) return id;
  return `${id.slice(0, MAX_ID - DIGEST_DIGITS - 1)}~${hash("sha256", id).slice(0, DIGEST_DIGITS)}`;
}

/** Session id of a conversation beside the main one. */
export function childId(root: string, kind: string, firstKey: string, ordinal: number): string {
  return `${root}/${kind}-${firstKey.slice(0, 8)}${ordinal > 1 ? `-${ordinal}` : ""}`;
}

/** The first of these ids that no session has. */
export async function freeChildId(
  kernel: Pick<Kernel, "find">,
  root: string,
  kind: string,
  firstKey: string,
): Promise<string> {
  for (let ordinal = 1; ; ordinal++) {
    const id = childId(root, kind, firstKey, ordinal);
    if (!(await kernel.find(id))) return id;
  }
}
