import { z } from "zod";
import { readPinnedEntries } from "../../../kernel/calls/read-pinned-entries.ts";
import {
  extractCarryOver,
  type ListedOverlay,
  POLICIES,
  type Slot,
  type WindowOptions,
} from "../../../kernel/faces/window.ts";
import {
  type Entry,
  formatEntryId,
  LonghaulError,
  type Session,
  type SessionWindowOptions,
  textOfMessage,
} from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { hasSeq } from "../../../model/line.ts";
import { findProjectFolder } from "../../../model/session-origin.ts";
import { ApiError } from "../core/api-error.ts";
import { toDecodeFailure } from "../core/decode-failure.ts";
import { encodeMessages } from "../core/message-formats.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { checkEntryRef, openForChange, openOwn } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import { fitApart } from "../jobs/fit-task.ts";
import { entryParams, limitQuery, sessionIdSchema, sessionParams } from "../schemas/common-schemas.ts";
import { messageSchema } from "../schemas/entry-schemas.ts";
import { foreignMessageSchema, formatSchema, messageInputSchema } from "../schemas/message-input-schemas.ts";
import { queryFlag, queryNumber } from "../schemas/query-values.ts";
import { comparisonSchema } from "../schemas/receipt-schemas.ts";
import { fittedSchema, overlaySchema, windowSchema } from "../schemas/window-schemas.ts";

type SingleEdit = ListedOverlay["entry"]["edit"];

const tag = "Window";

const MAX_WINDOW = 100_000_000;

const MAX_EXCERPT = 300;

const POLICY_NAMES = POLICIES.map(({ name }) => name);

const policySchema = z.enum(POLICY_NAMES as [string, ...string[]]);

/** Facts about a call that its caller states. */
interface CallFacts {
  readonly model?: string | undefined;
  readonly policy?: string | undefined;
  readonly window?: number | undefined;
  readonly system?: string | number | undefined;
  readonly tools?: unknown;
  readonly maxOutputTokens?: number | undefined;
  readonly reserveTokens?: number | undefined;
  readonly oversize?: "error" | "clip" | undefined;
  readonly threshold?: number | undefined;
}

const FORMATS = ["longhaul", "anthropic", "openai-chat", "openai-responses", "ai-sdk"] as const;

const receiptSchema = defineSchema(
  "FitReceipt",
  z.object({
    model: z.string(),
    policy: z.string(),
    isChanged: z.boolean(),
    isFitted: about(
      z.boolean(),
      "False if only clipping the newest question would make it fit: nothing was changed.",
    ),
    tokens: about(comparisonSchema, "Tokens of the request without and with the edit."),
    messages: about(comparisonSchema, "Number of messages."),
    left: about(z.array(z.number().int()), "Indexes of the given messages that left."),
    edited: about(z.array(z.number().int()), "Indexes of the given messages that were shortened."),
    notes: about(z.number().int(), "Number of new messages that quote what left."),
    promptCost: about(
      comparisonSchema.nullable(),
      "US dollars for the prompt without a cache; null if prices are unknown.",
    ),
    window: z.number().int(),
  }),
);

const fitMessages = defineRoute(
  {
    id: "fitMessages",
    method: "POST",
    path: "/fit",
    tag,
    weight: "computes",
    summary: "Fit messages into a model's window; nothing is stored",
    description:
      "Takes messages of any format and returns the same format. As the conversation grows, the beginning of the result stays the same, so a provider's cache keeps working. Indexes of Responses count messages: consecutive items of the model are one.",
    body: z.strictObject({
      messages: z.array(foreignMessageSchema).min(1),
      model: z.string().min(1),
      format: about(
        z.enum(FORMATS).optional(),
        "Detected if absent; plain text looks the same in all formats.",
      ),
      policy: policySchema.optional(),
      system: about(z.union([z.string(), z.number().min(0)]).optional(), "The system prompt, or its tokens."),
      tools: about(z.unknown().optional(), "Tool definitions as JSON, or their tokens."),
      window: about(z.number().int().min(100).optional(), "Context window in tokens; default: the model's."),
      maxOutputTokens: z.number().int().min(1).optional(),
      reserveTokens: z.number().int().min(0).optional(),
      threshold: about(
        z.number().min(5).max(100).optional(),
        "Percentage of the window from which content that can be fetched again leaves at the latest.",
      ),
      maxMessages: z.number().int().min(2).optional(),
      oversize: about(
        z.enum(["error", "clip"]).optional(),
        "error: fails if protected content does not fit.",
      ),
    }),
    reply: z.object({
      format: z.enum(FORMATS),
      messages: z.array(z.unknown()),
      receipt: receiptSchema,
    }),
    errors: ["ARGUMENT_INVALID", "WINDOW_FLOOR", "WINDOW_STUCK", "LIMIT_REACHED"],
  },
  async ({ services: { kernel }, body, signal }) => {
    const { messages: given, format, window, ...rest } = body;
    const present = Object.entries(rest).filter(([, value]) => value !== undefined);
    const options = {
      ...(Object.fromEntries(present) as unknown as WindowOptions),
      ...(window !== undefined && { models: { "*": { window } } }),
    };
    if (format === "longhaul" || given.some(({ parts }) => parts !== undefined)) checkOwnMessages(given);
    const fit = await fitApart({ messages: given, options, format }, signal).catch((error: unknown) => {
      throw toDecodeFailure(error, format ?? "that they seem to have");
    });
    const { tokens } = fit.receipt;
    const facts = kernel.modelFacts(body.model);
    const price = (total: number) => (total * facts.prices.input) / 1e6;
    return {
      format: fit.format,
      messages: fit.messages,
      receipt: {
        model: body.model,
        policy: body.policy ?? "longhaul",
        ...fit.receipt,
        promptCost: facts.arePricesAssumed
          ? null
          : { without: price(tokens.without), with: price(tokens.with) },
        window: window ?? facts.window,
      },
    };
  },
);

const ownMessageSchema = z.union([messageInputSchema, messageSchema]);

export const FIT_ROUTES = [fitMessages] as const satisfies readonly ApiRoute[];

/** Window options for the model of the request, else of the session's last call. */
async function toWindowOptions(session: Session, facts: CallFacts) {
  const { model: lastModel, ...frame } = await session.lastCall();
  const model = facts.model ?? lastModel;
  const { policy = "longhaul", window, system, tools, threshold } = facts;
  const { maxOutputTokens, reserveTokens, oversize } = facts;
  const options: SessionWindowOptions = {
    ...frame,
    model: model ?? "unknown",
    policy,
    ...dropUndefined({ system }),
    ...(tools !== undefined && { tools: tools as NonNullable<SessionWindowOptions["tools"]> }),
    ...(window !== undefined && { models: { "*": { window } } }),
    ...dropUndefined({ maxOutputTokens, reserveTokens, oversize, threshold }),
  };
  return { options, model, policy, agent: frame.memories };
}

const getWindow = defineRoute(
  {
    id: "getWindow",
    method: "GET",
    path: "/sessions/{session}/window",
    tag,
    summary: "Show the window of the next call; changes nothing",
    params: sessionParams,
    query: z.strictObject({
      model: about(z.string().optional(), "Model of the call; default: that of the last one."),
      policy: about(
        policySchema.optional(),
        "Policy of the plan; default: that of the gateway, whose threshold counts too.",
      ),
      window: about(
        queryNumber(100, MAX_WINDOW).optional(),
        "Context window in tokens; default: the model's.",
      ),
      plan: about(queryFlag().default(false), "True: adds the edit that the next call would make."),
      slots: about(queryFlag().default(false), "True: adds the messages as the model sees them."),
      last: about(queryNumber(1, 100_000).optional(), "Only the newest messages, with `slots`."),
    }),
    reply: windowSchema,
    errors: ["SESSION_NOT_FOUND", "WINDOW_FLOOR", "WINDOW_STUCK"],
  },
  async ({ services: { kernel, gateway }, caller, params, query }) => {
    await using session = await openOwn(kernel, caller, params.session);
    const { settings } = gateway();
    const facts = { ...query, policy: query.policy ?? settings.policy, threshold: settings.threshold };
    const { options, model, policy, agent } = await toWindowOptions(session, facts);
    const window = session.window(options);
    const { tokens, messages, parts, held = [], advice, limits, cache, slots } = await window.look();
    const plan = query.plan ? ((await window.fit({ dryRun: true })).plan ?? null) : undefined;
    const pins = await readPinnedEntries(session);
    const memories =
      agent === undefined
        ? []
        : await kernel.memories(agent).pins({ project: findProjectFolder(await session.record()) ?? null });
    return {
      session: session.id,
      model: model ?? null,
      policy,
      tokens,
      messages: messages.length,
      parts,
      limits,
      cache,
      pins: pins.map((entry) => ({ entry: entry.id, seq: entry.seq, text: toExcerpt(entry) })),
      held,
      advice: advice ? { ...advice, carryOver: extractCarryOver(slots) } : null,
      memories: memories.map(({ id, text }) => ({ id, text })),
      ...dropUndefined({ plan }),
      ...(query.slots && {
        slots: slots.slice(-(query.last ?? slots.length)).map((slot) => toSlotJson(session.id, slot)),
      }),
    };
  },
);

function toExcerpt(entry: Awaited<ReturnType<typeof readPinnedEntries>>[number]): string {
  return entry.kind === "message" ? textOfMessage(entry.message).slice(0, MAX_EXCERPT) : "";
}

function toSlotJson(session: string, { seq, cite, at, message, original, tokens, isNote }: Slot) {
  const entry = isNote ? null : (cite?.replace(/^#/, `${session}#`) ?? formatEntryId(session, seq));
  return { entry, seq, at, tokens, isEdited: isNote === true || original !== undefined, message };
}

const fitWindow = defineRoute(
  {
    id: "fitWindow",
    method: "POST",
    path: "/sessions/{session}/fit",
    tag,
    weight: "computes",
    summary: "Get the messages for the next call of a model, within its window",
    description:
      "Content that leaves the window is recorded as an overlay with a receipt, so that the next call begins with the same messages. The log keeps everything.",
    params: sessionParams,
    body: z.strictObject({
      model: z.string().min(1).optional(),
      format: formatSchema,
      policy: policySchema.optional(),
      system: about(z.union([z.string(), z.number().min(0)]).optional(), "The system prompt, or its tokens."),
      tools: about(z.unknown().optional(), "Tool definitions as JSON, or their tokens."),
      window: z.number().int().min(100).max(MAX_WINDOW).optional(),
      maxOutputTokens: z.number().int().min(1).optional(),
      reserveTokens: z.number().int().min(0).optional(),
      oversize: z.enum(["error", "clip"]).optional(),
      dryRun: about(z.boolean().default(false), "True: plans without changing anything."),
    }),
    reply: fittedSchema,
    errors: ["SESSION_NOT_FOUND", "WINDOW_FLOOR", "WINDOW_STUCK", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body, signal }) => {
    await using session = await openForChange(kernel, caller, params.session);
    const { options, model } = await toWindowOptions(session, body);
    if (model === undefined)
      throw new ApiError("REQUEST_INVALID", "body: model: the session has no last model, so name one.");
    const { dryRun, format } = body;
    const fitted = await session.window({ ...options, memories: caller.memoryAgent }).fit({ dryRun, signal });
    const { messages, memories, tokens, limits, maxOutputTokens, plan } = fitted;
    return {
      session: session.id,
      model,
      format,
      ...(await encodeMessages(kernel, format, messages)),
      ...dropUndefined({ memories }),
      tokens,
      limits,
      ...dropUndefined({ maxOutputTokens }),
      plan: plan ?? null,
    };
  },
);

const listReceipts = defineRoute(
  {
    id: "listReceipts",
    method: "GET",
    path: "/sessions/{session}/receipts",
    tag,
    summary: "List the edits of the window with their receipts, newest first",
    params: sessionParams,
    query: z.strictObject({
      limit: limitQuery(50, 1_000),
      holding: about(queryFlag().optional(), "True: only edits in effect."),
    }),
    reply: z.object({ session: z.string(), overlays: z.array(overlaySchema) }),
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params, query: { limit, holding } }) => {
    await using session = await openOwn(kernel, caller, params.session);
    const listed = await session.overlays.list(holding === undefined ? limit : 10_000);
    const wanted = listed.filter(({ isHolding }) => holding === undefined || isHolding === holding);
    return { session: session.id, overlays: wanted.slice(0, limit).map((one) => toOverlayJson(one)) };
  },
);

const getReceipt = defineRoute(
  {
    id: "getReceipt",
    method: "GET",
    path: "/sessions/{session}/receipts/{overlay}",
    tag,
    summary: "Show one edit of the window in full",
    params: z.strictObject({ session: sessionIdSchema, overlay: queryNumber(1) }),
    reply: overlaySchema,
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params }) => {
    await using session = await openOwn(kernel, caller, params.session);
    return toOverlayJson(await requireOverlay(session, params.overlay), true);
  },
);

const entryInWindowSchema = z.object({
  entry: z.string(),
  seq: z.number().int(),
  state: about(
    z.enum(["whole", "shortened", "gone"]),
    "In the window of the next call as it was said, in part, or not at all.",
  ),
  isPinned: about(z.boolean(), "True if it stays in the window for good."),
  edit: about(
    z
      .object({
        overlay: z.number().int(),
        index: about(z.number().int().nullable(), "Index in the overlay's plan; null if it is no plan."),
        at: z.number(),
        type: z.string(),
        author: z.string(),
        reason: z.string(),
      })
      .nullable(),
    "The edit in effect that took it out; null if none did, such as for an entry of an abandoned line.",
  ),
});

const findInWindow = defineRoute(
  {
    id: "findInWindow",
    method: "GET",
    path: "/sessions/{session}/entries/{entry}/window",
    tag,
    summary: "Show whether the model still sees an entry, and which edit took it out",
    params: entryParams,
    reply: entryInWindowSchema,
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND"],
  },
  async ({ services: { kernel, gateway }, caller, params }) => {
    await using session = await openOwn(kernel, caller, params.session);
    const which = checkEntryRef(caller, session, params.entry);
    const entry = await session.entry(which);
    if (!entry)
      throw new LonghaulError("ENTRY_NOT_FOUND", `There is no entry ${JSON.stringify(which)}.`, {
        details: { session: session.id, id: String(which) },
      });
    const { policy, threshold } = gateway().settings;
    const { options } = await toWindowOptions(session, { policy, threshold });
    const { slots } = await session.window(options).look();
    const slot = slots.find(
      (one) =>
        !one.isNote &&
        (one.cite?.replace(/^#/, `${session.id}#`) ?? formatEntryId(session.id, one.seq)) === entry.id,
    );
    const state = !slot ? "gone" : slot.original === undefined ? "whole" : "shortened";
    const pins = await readPinnedEntries(session);
    const holding = (await session.overlays.list(Number.MAX_SAFE_INTEGER)).filter((one) => one.isHolding);
    return {
      entry: entry.id,
      seq: entry.seq,
      state: state as "whole" | "shortened" | "gone",
      isPinned: pins.some(({ id }) => id === entry.id),
      edit: state === "whole" ? null : (findEditOf(holding, entry) ?? null),
    };
  },
);

/** The newest edit in effect that touches an entry. */
function findEditOf(holding: readonly ListedOverlay[], entry: Entry) {
  for (const { entry: overlay } of holding) {
    const { edit, seq, at, madeAt, author, reason } = overlay;
    const singles = edit.type === "plan" ? edit.edits : [edit];
    const index = singles.findIndex((one) => isTouched(one, entry));
    if (index === -1) continue;
    return {
      overlay: seq,
      index: edit.type === "plan" ? index : null,
      at: madeAt ?? at,
      type: singles[index]?.type ?? edit.type,
      author,
      reason,
    };
  }
  return undefined;
}

function isTouched(edit: SingleEdit, { session, seq, ...entry }: Entry): boolean {
  if (edit.type === "revert" || edit.type === "plan") return false;
  if (edit.type !== "replace") return hasSeq(edit.ranges, { session, seq });
  const { target } = edit;
  if ("seq" in target) return target.seq === seq && (target.session ?? session) === session;
  return (
    entry.kind === "message" &&
    entry.message.parts.some((part) => part.type === "tool-result" && part.callId === target.callId)
  );
}

/** Finds an overlay of the active line; throws ENTRY_NOT_FOUND. */
async function requireOverlay(session: Session, seq: number): Promise<ListedOverlay> {
  const listed = await session.overlays.list(Number.MAX_SAFE_INTEGER);
  const found = listed.find(({ entry }) => entry.seq === seq);
  if (found) return found;
  throw new LonghaulError("ENTRY_NOT_FOUND", `There is no overlay #${seq} on the line of ${session.id}.`, {
    details: { session: session.id, seq },
  });
}

function toOverlayJson({ entry, isHolding, holdingEdits }: ListedOverlay, isFull = false) {
  const { id, session, seq, at, kind: _, edit, ...reason } = entry;
  return {
    overlay: id,
    session,
    seq,
    at,
    type: edit.type,
    isHolding,
    holdingEdits,
    edits: edit.type === "plan" ? edit.edits.length : 1,
    ...(isFull && { edit }),
    ...reason,
  };
}

export const WINDOW_ROUTES = [
  getWindow,
  fitWindow,
  listReceipts,
  getReceipt,
  findInWindow,
] as const satisfies readonly ApiRoute[];

function checkOwnMessages(messages: readonly unknown[]): void {
  for (const [index, message] of messages.entries()) {
    const checked = ownMessageSchema.safeParse(message);
    if (checked.success) continue;
    const [issue] = checked.error.issues;
    throw new ApiError("REQUEST_INVALID", `body: messages.${index}: ${issue?.message ?? "invalid"}.`, {
      details: { place: "body" },
    });
  }
}
