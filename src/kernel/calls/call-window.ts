import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { UsageBody } from "../faces/log.ts";
import { findCompactCommand, type ProviderFailure } from "../faces/window.ts";
import {
  type CompactionResult,
  type Entry,
  type EntryId,
  type FittedWindow,
  isLonghaulError,
  type MessageInput,
  parseEntryId,
  type ReportOptions,
  type Session,
  type SessionCompactOptions,
  type SessionWindow,
  type Usage,
} from "../index.ts";
import type { CallerMessage, Conversation } from "./conversation.ts";

/** The usage of a call, and the reply that it belongs to. */
export interface CallUsage {
  readonly usage: Usage;
  readonly model: string;
  readonly reply: MessageInput | undefined;
  /** The provider's id of the request. */
  readonly request?: string | undefined;
  /** Estimated tokens that the caller added to the request. */
  readonly addedTokens?: number;
  /** Time before the request was sent. */
  readonly overheadMs?: number | undefined;
  /** Replaces the metadata of the report before it is stored. */
  readonly describe?: ReportOptions["describe"];
  /** The provider's own explanation of a cache miss. */
  readonly diagnosis?: { readonly [field: string]: unknown } | undefined;
  /** Changes of the provider to the request before the model saw it. */
  readonly inputChanges?: ReportOptions["inputChanges"] | undefined;
}

/** The window of one call of a stateless caller: fitted, healed after a refusal, and given the usage of the reply. */
export class CallWindow<Given extends CallerMessage> {
  readonly #conversation: Conversation<Given>;
  readonly #maxHeals: number;
  #lease: WindowLease;
  window: SessionWindow;
  /** Number of times the window was healed. */
  healed = 0;

  constructor(conversation: Conversation<Given>, lease: WindowLease, maxHeals: number) {
    this.#conversation = conversation;
    this.#lease = lease;
    this.window = lease.window;
    this.#maxHeals = maxHeals;
  }

  /** True while another window may be tried. */
  get canHeal(): boolean {
    return this.healed < this.#maxHeals;
  }

  /** Replaces the window. */
  replace(lease: WindowLease): void {
    if (lease !== this.#lease) this.#lease.release();
    this.#lease = lease;
    this.window = lease.window;
  }

  /** A window for another try; undefined if no other window would help. */
  async heal(
    failure: ProviderFailure,
    healWindow: () => Promise<FittedWindow | undefined> = () => this.window.heal(failure),
  ): Promise<FittedWindow | undefined> {
    const fitted = await healWindow();
    if (fitted) this.healed++;
    return fitted;
  }

  /** Stores the usage of the reply, and returns its entry. */
  async report({ usage, ...rest }: CallUsage): Promise<Entry<UsageBody>> {
    const entry = await this.window.report(usage, this.#toReportOptions(rest));
    this.#conversation.recordAppended([entry]);
    return entry;
  }

  /** The same report for a caller that stores it itself. */
  buildReport({ usage, ...rest }: CallUsage): ReturnType<SessionWindow["buildReport"]> {
    return this.window.buildReport(usage, this.#toReportOptions(rest));
  }

  #toReportOptions({
    model,
    reply,
    request,
    addedTokens,
    overheadMs,
    describe,
    diagnosis,
    inputChanges,
  }: Omit<CallUsage, "usage">): ReportOptions {
    return {
      model,
      describe,
      ranServerTools: hasRunServerTools(reply),
      retries: this.healed,
      ...dropUndefined({ request, addedTokens, overheadMs, diagnosis, inputChanges }),
    };
  }

  /** Returns the window for reuse. Idempotent. */
  end(): void {
    this.#lease.release();
  }
}

/** Types of blocks and items with which providers report that they ran a tool themselves. */
const SERVER_CALL = /^(?:server_tool_use|mcp_tool_use|\w+_call)$/;
/** Types of calls that the client runs. */
const CLIENT_CALL = /^(?:function|custom_tool|local_shell|shell|apply_patch|computer)_call$/;

/**
 * True if the provider ran its own tools while generating a reply. Providers then report the input of all rounds
 * together, which says nothing about the size of the request.
 */
export function hasRunServerTools(reply: MessageInput | undefined): boolean {
  // Results of client-side tools arrive in a separate message.
  for (const part of reply?.parts ?? [])
    if (part.type === "tool-result" || (part.type === "raw" && isServerCall(part.value))) return true;
  return false;
}

/** True for a call that the provider ran. A call with a `call_id` waits for a result from the client. */
function isServerCall(value: unknown): boolean {
  const { type, call_id: callId } = Object(value) as { readonly type?: unknown; readonly call_id?: unknown };
  if (typeof type !== "string" || typeof callId === "string") return false;
  return SERVER_CALL.test(type) && !CLIENT_CALL.test(type);
}

/** One try to send a call. */
export interface SendAttempt<Answer, Refusal> {
  readonly answer: Answer;
  /** Set if the provider refused the call. */
  readonly refusal?: Refusal;
}

/** The steps of sending a call. */
interface HealLoop<Answer, Refusal> {
  send(): Promise<SendAttempt<Answer, Refusal>>;
  /** Changes the call after a refusal; false if no other window would be accepted. */
  heal(refusal: Refusal): Promise<boolean>;
  /** Frees an answer that is sent again. */
  discard?(answer: Answer): unknown;
}

/** Sends a call until it is accepted, or until no other window would help; returns the last try. */
export async function runHealLoop<Answer, Refusal>(
  loop: HealLoop<Answer, Refusal>,
): Promise<SendAttempt<Answer, Refusal>> {
  for (;;) {
    const attempt = await loop.send();
    if (attempt.refusal === undefined || !(await loop.heal(attempt.refusal))) return attempt;
    await loop.discard?.(attempt.answer);
  }
}

/** A window in use by one call. */
export interface WindowLease {
  readonly window: SessionWindow;
  /** Returns the window for reuse. Idempotent, because two calls at once must never share a window. */
  readonly release: () => void;
}

/** How the windows of a pool are opened and compared. `Key` holds the facts that a window depends on. */
interface WindowPoolOptions<Frame, Key> {
  /** Maximum number of idle windows; concurrent calls open more. */
  readonly maxIdle: number;
  readonly open: (frame: Frame) => SessionWindow;
  readonly toKey: (frame: Frame) => Key;
  /** True if a window opened for one key suits the other. */
  readonly isSimilar: (one: Key, other: Key) => boolean;
}

/** The windows of a session: one for each call in progress, reused for the next similar one. */
export class WindowPool<Frame, Key> {
  readonly #options: WindowPoolOptions<Frame, Key>;
  #idle: { readonly key: Key; readonly window: SessionWindow }[] = [];

  constructor(options: WindowPoolOptions<Frame, Key>) {
    this.#options = options;
  }

  /** Takes a window for one call; reuses an idle one that matches. */
  take(frame: Frame): WindowLease {
    const { maxIdle, open, toKey, isSimilar } = this.#options;
    const wanted = toKey(frame);
    const index = this.#idle.findIndex(({ key }) => isSimilar(key, wanted));
    const [idle] = index < 0 ? [] : this.#idle.splice(index, 1);
    const { key, window } = idle ?? { key: wanted, window: open(frame) };
    let isTaken = true;
    const release = () => {
      if (!isTaken) return;
      isTaken = false;
      this.#idle = [{ key, window }, ...this.#idle].slice(0, maxIdle);
    };
    return { window, release };
  }

  /** A window that calls share; it is never fitted and only receives reported usage. */
  share(frame: Frame): WindowLease {
    const lease = this.take(frame);
    lease.release();
    return lease;
  }
}

/** Number of overlays searched for a trace of the same command. */
const MAX_OVERLAYS = 50;

/**
 * Runs `/compact [instructions]` if it is the newest message of a conversation, stored as `last`: compacts the session and asks the model
 * to confirm it in place of the command, which stays in the log. A repeated request does not run the command twice.
 * Call this in the conversation's turn, before fitting its window.
 */
export async function compactOnCommand(
  session: Session,
  last: EntryId | undefined,
  newest: Pick<CallerMessage, "input">,
  options: Omit<SessionCompactOptions, "instructions" | "dryRun"> = {},
): Promise<void> {
  const place = last === undefined ? undefined : parseEntryId(last);
  if (place?.session !== session.id) return;
  const command = findCompactCommand(newest.input());
  if (!command || (await isCarriedOut(session, place.seq))) return;
  const { instructions } = command;
  const done = await compactUnlessBusy(session, { ...options, ...dropUndefined({ instructions }) });
  const text = buildConfirmationRequest(instructions, done);
  await session.overlays.add(
    { type: "replace", target: { seq: place.seq }, parts: [{ type: "text", text }] },
    "the user's /compact was carried out; the model is asked to confirm it",
    "longhaul",
  );
}

async function isCarriedOut(session: Session, seq: number): Promise<boolean> {
  const overlays = await session.overlays.list(MAX_OVERLAYS);
  return overlays.some(
    ({ entry: { edit } }) =>
      edit.type === "replace" && "seq" in edit.target && edit.target.seq === seq && !edit.target.session,
  );
}

async function compactUnlessBusy(
  session: Session,
  options: SessionCompactOptions,
): Promise<CompactionResult | undefined> {
  try {
    return await session.compact(options);
  } catch (error) {
    // Another process is compacting; its summary is just as good.
    if (isLonghaulError(error, "COMPACTION_BUSY")) return undefined;
    throw error;
  }
}

function buildConfirmationRequest(
  instructions: string | undefined,
  done: CompactionResult | undefined,
): string {
  const asked = `The user typed ${JSON.stringify(`/compact${instructions === undefined ? "" : ` ${instructions}`}`)}.`;
  const outcome = done
    ? `It was carried out: ${done.left.entries} earlier messages are now a summary, ${Math.round(done.tokens.without)} tokens have become ${Math.round(done.tokens.with)}, and the whole conversation stays in the log.`
    : "There was nothing to compact.";
  return `[${asked} ${outcome} Tell the user so in one short sentence. Do nothing else, and call no tool.]`;
}
