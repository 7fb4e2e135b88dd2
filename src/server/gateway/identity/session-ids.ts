import type { Kernel, MessageInput } from "../../../kernel/index.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { ADDED_TAGS, buildTagPattern, getTagNames } from "../../../model/message-tags.ts";
import { removeElements } from "../../../model/remove-elements.ts";
import type { WireName } from "../../../wire/wire.ts";
import { buildCanonicalKey } from "./canonical-key.ts";
import { getSessionPrefix, type PersonIds } from "./person-ids.ts";
import { getMessageText } from "./request-kind.ts";

const MAX_ID = 160;
const DIGEST_DIGITS = 32;

/** The caller of a request, as far as it identifies the conversation. */
export interface CallerIdentity {
  /** Principals never share sessions. */
  readonly principal: PersonIds;
  readonly api: WireName;
  /** The agent, if recognized; used only in names. */
  readonly client: string | undefined;
  /** The client's own id of the conversation. */
  readonly explicit: string | undefined;
  /** The sub-agent that sends the request, if the client names it. */
  readonly agent: string | undefined;
}

/** The key of the family that a caller's conversation belongs to. */
export function buildFamilyKey({ principal, api, explicit }: CallerIdentity, firstKey: string): string {
  const { id } = principal;
  return explicit === undefined ? `${id} ${api} first ${firstKey}` : `${id} id ${explicit}`;
}

/**
 * Session id of a conversation; the same for the same caller, so that it is found again after a restart. `person` is
 * one of the ids of the caller's principal.
 */
export function buildRootId(
  caller: CallerIdentity,
  firstKey: string,
  ordinal: number,
  person: string = caller.principal.id,
): string {
  const { api, client = api, explicit } = caller;
  const own = explicit ?? `${firstKey.slice(0, 16)}${ordinal > 1 ? `-${ordinal}` : ""}`;
  return `${getSessionPrefix(person)}${client}:${shortenId(own)}`;
}

/** Shortens long ids and adds a digest of the whole, to keep them distinct. */
function shortenId(id: string): string {
  if (id.length <= MAX_ID) return id;
  return `${id.slice(0, MAX_ID - DIGEST_DIGITS - 1)}~${computeDigest(id, DIGEST_DIGITS)}`;
}

/** Session id of a secondary conversation. */
function buildChildId(root: string, kind: string, firstKey: string, ordinal: number): string {
  return `${root}/${kind}-${firstKey.slice(0, 8)}${ordinal > 1 ? `-${ordinal}` : ""}`;
}

/** The first child id that no session has. */
export async function findFreeChildId(
  kernel: Pick<Kernel, "find">,
  root: string,
  kind: string,
  firstKey: string,
): Promise<string> {
  for (let ordinal = 1; ; ordinal++) {
    const id = buildChildId(root, kind, firstKey, ordinal);
    if (!(await kernel.find(id))) return id;
  }
}

/** Context that clients add to a user message for one request and omit when they resume the conversation. */
const TEMPORARY_CONTEXT = new RegExp(`<(${buildTagPattern(ADDED_TAGS, "identity")})>`, "g");
/** Names without angle brackets, which some clients escape. */
const MARKS = getTagNames(ADDED_TAGS, "identity");

/**
 * The key by which a conversation is looked up: the key of its first message without the context added for one request.
 * `bytes` is the raw message; it is parsed only if it may contain such context.
 */
export function buildOpeningKey(
  first: { readonly key: string; input(): MessageInput },
  bytes: Buffer,
): string {
  if (!MARKS.some((mark) => bytes.includes(mark))) return first.key;
  const input = first.input();
  const words = getMessageText(input);
  const text = removeElements(words, TEMPORARY_CONTEXT, "").trim();
  if (text === "" || text === words.trim()) return first.key;
  const others = (input.parts ?? []).filter(({ type }) => type !== "text");
  return buildCanonicalKey({ role: input.role, text, parts: others });
}

/** The keys with the first one replaced by the opening key. */
export function replaceOpening(keys: readonly string[], opening: string): readonly string[] {
  return keys.length === 0 || keys[0] === opening ? keys : keys.with(0, opening);
}
