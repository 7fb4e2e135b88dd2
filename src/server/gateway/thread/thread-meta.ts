import type { Json, Session, SessionRecord } from "../../../kernel/index.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { toText } from "../../../wire/fields.ts";
import type { AgentShape } from "../identity/agent-shape.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";

/** Facts about a thread, stored in its session's metadata. */
export interface ThreadMeta {
  readonly kind: ThreadKind;
  readonly shape: AgentShape;
  readonly firstKey: string;
  /** The name of the client that began the conversation, for labels. */
  readonly client?: string;
  /** The sub-agent of the conversation, as the client names it. */
  readonly agent?: string;
  /** The working directory of the client when the conversation began. */
  readonly project?: string;
  /** True if the provider's stored conversation is incomplete, so that requests are rewritten from the log. */
  readonly isOurs?: true;
  /** True if the model was offered recall tools, and so is to the end of the conversation. */
  readonly hasRecallTools?: true;
  /** The part that the conversation plays in a comparison; absent if it began without one. */
  readonly arm?: ControlArm;
}

/** Metadata of a thread as session metadata; `claim` tells which of several gateways has created the session. */
export function encodeThreadMeta(meta: ThreadMeta, claim?: string): { readonly [key: string]: Json } {
  return { gateway: { ...meta, ...dropUndefined({ claim }) } as unknown as Json };
}

/** Metadata of the thread of a session; undefined if the gateway did not create it. */
export function parseThreadMeta(meta: { readonly [key: string]: Json } | undefined): ThreadMeta | undefined {
  const stored = meta?.gateway as Partial<ThreadMeta> | undefined;
  if (typeof stored !== "object" || stored === null) return undefined;
  const { kind, shape, firstKey, client, agent, project, isOurs, hasRecallTools, arm } = stored;
  if (typeof kind !== "string" || typeof shape?.digest !== "string" || typeof firstKey !== "string")
    return undefined;
  return {
    kind,
    shape,
    firstKey,
    ...dropUndefined({ client: toText(client), agent: toText(agent), project: toText(project) }),
    ...dropUndefined({ isOurs: isOurs || undefined, hasRecallTools: hasRecallTools || undefined }),
    ...dropUndefined({ arm: CONTROL_ARMS.find((one) => one === arm) }),
  };
}

/** The fact of a session that says which memories its conversation has been shown, and where. */
export const SHOWN_FACT = "shown-memories";
/** The fact of a session with the context that was added to its messages. */
export const SHOWN_CONTEXT_FACT = "shown-context";

/** Shows a conversation the memories and the context of another one whose messages it repeats. */
export async function copyShown(
  { facts }: Pick<Session, "facts">,
  to: Pick<Session, "facts">,
): Promise<void> {
  for (const name of [SHOWN_FACT, SHOWN_CONTEXT_FACT]) {
    const shown = await facts.get(name);
    if (shown !== undefined) await to.facts.set(name, shown);
  }
}

/**
 * The part that a conversation plays in a comparison: requests of the control arm are sent unchanged. A released
 * conversation belonged to the control arm until control was switched off; it counts in neither.
 */
export type ControlArm = "control" | "edited" | "released";

const CONTROL_ARMS: readonly ControlArm[] = ["control", "edited", "released"];

const DIGITS = 12;

/** The arm of a new conversation, by the digest of its session id, so that a restart does not change it. */
export function chooseArm(session: string, share: number): ControlArm {
  const place = Number.parseInt(computeDigest(`control ${session}`, DIGITS), 16) / 16 ** DIGITS;
  return place < share ? "control" : "edited";
}

/** Number of consecutive unknown responses after which the provider counts as storing none. */
const MAX_UNKNOWN_RESPONSES = 2;

/** The purpose and the marks of a thread. Other gateways may set marks too. */
export class ThreadMarks {
  readonly #session: Session;
  kind: ThreadKind;
  meta: ThreadMeta;
  /** The metadata of the session that `meta` was read from. */
  #storedMeta: SessionRecord["meta"];
  #forgotten = 0;

  constructor(session: Session, meta: ThreadMeta) {
    this.#session = session;
    this.kind = meta.kind;
    this.meta = meta;
  }

  /** True if the agent has tools, and so does actual work. */
  get hasTools(): boolean {
    return this.meta.shape.tools.length > 0;
  }

  /** Takes over marks that another gateway has set; `stored` is the metadata of the session. */
  refresh(stored: SessionRecord["meta"]): void {
    if (stored === this.#storedMeta) return;
    this.#storedMeta = stored;
    this.meta = parseThreadMeta(stored) ?? this.meta;
  }

  /** Sets marks for all later requests, even after a restart. */
  async set(marks: Pick<ThreadMeta, "isOurs" | "hasRecallTools" | "arm">): Promise<void> {
    if (Object.entries(marks).every(([name, value]) => this.meta[name as keyof typeof marks] === value))
      return;
    this.meta = { ...this.meta, ...marks };
    this.#storedMeta = undefined;
    await this.#session.update({ meta: encodeThreadMeta(this.meta) });
  }

  /** Makes this a secondary conversation, because another one has turned out to be the main one. */
  demote(): void {
    this.kind = "aside";
  }

  /** True if the provider does not store the whole conversation, so that every request must contain it. */
  get isOurs(): boolean {
    return this.meta.isOurs === true || this.#forgotten >= MAX_UNKNOWN_RESPONSES;
  }

  /** Records whether the provider knew the response that a request continued. */
  recordProviderMemory(wasKnown: boolean): void {
    this.#forgotten = wasKnown ? 0 : this.#forgotten + 1;
  }
}
