import { z } from "zod";
import { isOnLine, readPinnedEntries } from "../../../kernel/calls/read-pinned-entries.ts";
import { diffWindows, type WindowChange } from "../../../kernel/faces/window.ts";
import { type CompactionResult, type Entry, LonghaulError, type Session } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { isOwnSession } from "../../../model/session-key.ts";
import { isAdminCaller } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import { computeConfirmation, isConfirmed } from "../core/confirmation.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { checkEntryRef, openForChange, openOwn } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import {
  confirmSchema,
  entryParams,
  entryRefSchema,
  freedSchema,
  limitQuery,
  metaInputSchema,
  seqSchema,
  sessionIdSchema,
  sessionParams,
} from "../schemas/common-schemas.ts";
import { entrySchema, lineSchema } from "../schemas/entry-schemas.ts";
import { sessionSchema } from "../schemas/session-schemas.ts";
import { compactionSchema, revertSchema } from "../schemas/window-schemas.ts";
import { describeSession } from "./session-summary.ts";

const tag = "Edits";
const pinSchema = z.object({
  session: z.string(),
  entry: z.string(),
  isPinned: z.boolean(),
  isChanged: z.boolean(),
});
const todoSchema = defineSchema(
  "Todo",
  z.object({
    text: z.string(),
    state: z.enum(["open", "doing", "done"]),
    entry: about(z.string(), "The entry that wrote the item as it is now."),
  }),
);

const pinEntry = defineRoute(
  {
    id: "pinEntry",
    method: "POST",
    path: "/sessions/{session}/pins",
    tag,
    summary: "Keep a message in the window, unchanged",
    params: sessionParams,
    body: z.strictObject({ entry: entryRefSchema }),
    reply: pinSchema,
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body }) => {
    await using session = await openForChange(kernel, caller, params.session);
    return await setPin(session, checkEntryRef(caller, session, body.entry), true);
  },
);

const unpinEntry = defineRoute(
  {
    id: "unpinEntry",
    method: "DELETE",
    path: "/sessions/{session}/pins/{entry}",
    tag,
    summary: "Remove the pin from a message",
    params: entryParams,
    reply: pinSchema,
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params }) => {
    await using session = await openForChange(kernel, caller, params.session);
    return await setPin(session, checkEntryRef(caller, session, params.entry), false);
  },
);

async function setPin(session: Session, which: number | string, isPinned: boolean) {
  const entry = await session.entry(which);
  if (entry?.kind !== "message" || !(await isOnLine(session, entry)))
    throw new LonghaulError(
      "ENTRY_NOT_FOUND",
      `Entry ${which} is no message on the active line of ${session.id}.`,
      {
        details: { session: session.id, id: String(which) },
      },
    );
  const isKnown = (await readPinnedEntries(session)).some(({ id }) => id === entry.id);
  if (isKnown !== isPinned) await (isPinned ? session.pin(entry.id) : session.unpin(entry.id));
  return { session: session.id, entry: entry.id, isPinned, isChanged: isKnown !== isPinned };
}

const listPins = defineRoute(
  {
    id: "listPins",
    method: "GET",
    path: "/sessions/{session}/pins",
    tag,
    summary: "List pinned messages",
    params: sessionParams,
    reply: z.object({ session: z.string(), pins: z.array(entrySchema) }),
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params }) => {
    await using session = await openOwn(kernel, caller, params.session);
    return { session: session.id, pins: await readPinnedEntries(session) };
  },
);

const rewindSession = defineRoute(
  {
    id: "rewindSession",
    method: "POST",
    path: "/sessions/{session}/rewind",
    tag,
    summary: "Go back to just after an entry; later entries leave the line but stay in the log",
    params: sessionParams,
    body: z.strictObject({ entry: entryRefSchema }),
    reply: z.object({
      session: z.string(),
      line: about(seqSchema, "Names the new line."),
      previous: z.number().int(),
    }),
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "NOT_ON_LINE", "LINE_LIMIT", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body }) => {
    await using session = await openForChange(kernel, caller, params.session);
    const { seq, previous } = await session.rewind(checkEntryRef(caller, session, body.entry));
    return { session: session.id, line: seq, previous };
  },
);

const removeEntries = defineRoute(
  {
    id: "removeEntries",
    method: "POST",
    path: "/sessions/{session}/remove",
    tag,
    summary: "Take entries off the line; they stay in the log, and an earlier line brings them back",
    params: sessionParams,
    body: z.strictObject({
      entries: z.array(entryRefSchema).min(1).max(1_000),
      reason: z.string().min(1).max(200).optional(),
    }),
    reply: z.object({ session: z.string(), line: seqSchema, previous: z.number().int() }),
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "NOT_ON_LINE", "LINE_LIMIT", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body: { entries, reason } }) => {
    await using session = await openForChange(kernel, caller, params.session);
    const refs = entries.map((entry) => checkEntryRef(caller, session, entry));
    const { seq, previous } = await session.remove(refs, reason === undefined ? {} : { reason });
    return { session: session.id, line: seq, previous };
  },
);

const listLines = defineRoute(
  {
    id: "listLines",
    method: "GET",
    path: "/sessions/{session}/lines",
    tag,
    summary: "List the lines of a conversation, newest first",
    params: sessionParams,
    query: z.strictObject({ limit: limitQuery(50, 1_000) }),
    reply: z.object({ session: z.string(), lines: z.array(lineSchema) }),
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params, query }) => {
    await using session = await openOwn(kernel, caller, params.session);
    return { session: session.id, lines: await session.lines(query.limit) };
  },
);

const listTodos = defineRoute(
  {
    id: "listTodos",
    method: "GET",
    path: "/sessions/{session}/todos",
    tag,
    summary: "Show the to-do list of the line now chosen, as the agent last wrote it",
    params: sessionParams,
    reply: z.object({ session: z.string(), todos: z.array(todoSchema) }),
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params }) => {
    await using session = await openOwn(kernel, caller, params.session);
    return { session: session.id, todos: await session.todos() };
  },
);

const chooseLine = defineRoute(
  {
    id: "chooseLine",
    method: "POST",
    path: "/sessions/{session}/lines",
    tag,
    summary: "Return to an earlier line, which undoes a rewind",
    params: sessionParams,
    body: z.strictObject({ line: about(z.number().int().min(0), "The seq of a line, as listed.") }),
    reply: z.object({ session: z.string(), line: seqSchema, previous: z.number().int() }),
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body }) => {
    await using session = await openForChange(kernel, caller, params.session);
    const { seq, previous } = await session.choose(body.line);
    return { session: session.id, line: seq, previous };
  },
);

const forkSession = defineRoute(
  {
    id: "forkSession",
    method: "POST",
    path: "/sessions/{session}/fork",
    tag,
    summary: "Create a conversation that begins with this one's line; copies nothing",
    params: sessionParams,
    body: z.strictObject({
      at: about(entryRefSchema.optional(), "The last entry of the fork; default: the newest."),
      id: about(sessionIdSchema.optional(), "A new id if absent."),
      title: z.string().max(1_000).optional(),
      meta: metaInputSchema.optional(),
    }),
    reply: sessionSchema,
    status: 201,
    errors: ["SESSION_NOT_FOUND", "SESSION_EXISTS", "ENTRY_NOT_FOUND", "NOT_ON_LINE", "FORBIDDEN"],
  },
  async ({ services, caller, params, body }) => {
    const { kernel } = services;
    await using session = await openForChange(kernel, caller, params.session);
    const prefix = body.id === undefined ? "" : caller.homePrefix;
    const given = body.id ?? `${session.id}/fork-${crypto.randomUUID().slice(0, 8)}`;
    const id = isOwnSession([prefix], given) ? given : `${prefix}${given}`;
    if (await kernel.find(id))
      throw new ApiError("SESSION_EXISTS", `Session ${JSON.stringify(id)} exists already.`);
    const { title, meta } = body;
    await using fork = await session.fork({
      id,
      ...(body.at !== undefined && { at: checkEntryRef(caller, session, body.at) }),
      ...dropUndefined({ title }),
      ...(meta !== undefined && {
        meta: meta as NonNullable<Awaited<ReturnType<Session["record"]>>["meta"]>,
      }),
    });
    return await describeSession(kernel, fork, services, await fork.record());
  },
);

export const LINE_ROUTES = [
  listPins,
  pinEntry,
  unpinEntry,
  rewindSession,
  removeEntries,
  listLines,
  listTodos,
  chooseLine,
  forkSession,
] as const satisfies readonly ApiRoute[];

const compactSession = defineRoute(
  {
    id: "compactSession",
    method: "POST",
    path: "/sessions/{session}/compact",
    tag,
    weight: "computes",
    summary: "Replace older messages of the window by a summary; a dry run by default",
    description:
      "Without a model, the summary quotes the conversation. The messages stay in the log, and the overlay can be reverted. Only the person who runs the gateway may name a model, because its calls cost that person's money.",
    params: sessionParams,
    body: z.strictObject({
      dryRun: z.boolean().default(true),
      model: z.string().min(1).optional(),
      fallback: z.string().min(1).optional(),
      instructions: z.string().max(10_000).optional(),
      maxTokens: z.number().int().min(300).optional(),
      budgetTokens: about(
        z.number().int().min(300).optional(),
        "Former name of `maxTokens`, until the next version.",
      ),
    }),
    reply: compactionSchema,
    errors: ["SESSION_NOT_FOUND", "COMPACTION_BUSY", "PROVIDER_UNCONFIGURED", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body, signal }) => {
    const { model, fallback, instructions, maxTokens, budgetTokens, dryRun } = body;
    if ((model !== undefined || fallback !== undefined) && !isAdminCaller(caller))
      throw new ApiError("FORBIDDEN", "Only the person who runs the gateway may name a model for summaries.");
    await using session = await openForChange(kernel, caller, params.session);
    const result = await session.compact({
      ...dropUndefined({ model, fallback, instructions, maxTokens: maxTokens ?? budgetTokens }),
      dryRun,
      signal,
    });
    const isChanged = result?.overlay !== undefined;
    return { session: session.id, isChanged, result: result ? toResultJson(result) : null };
  },
);

function toResultJson({ before, after, usage: _, ...rest }: CompactionResult) {
  const changes = diffWindows(before, after).filter(
    ({ type }) => type !== "stays",
  ) as readonly WindowChange[];
  return { ...rest, changes };
}

const revertEdit = defineRoute(
  {
    id: "revertEdit",
    method: "POST",
    path: "/sessions/{session}/revert",
    tag,
    summary: "Take an edit of the window back",
    description:
      "Without arguments the newest edit in effect that took something out of the window, else the named overlay, one edit of its plan, or all overlays since a time. What comes back stays until the limit forces it out. A revert is an overlay itself and can be reverted, which releases what it brought back.",
    params: sessionParams,
    body: z.strictObject({
      overlay: seqSchema.optional(),
      edit: about(z.number().int().min(0).optional(), "Index of one edit of the overlay's plan."),
      to: about(z.number().int().min(0).optional(), "Reverts all overlays after this time."),
    }),
    reply: revertSchema,
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "ARGUMENT_INVALID", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body: { overlay, edit, to } }) => {
    if (to !== undefined && (overlay !== undefined || edit !== undefined))
      throw new ApiError("REQUEST_INVALID", "body: to cannot be combined with overlay or edit.");
    await using session = await openForChange(kernel, caller, params.session);
    const { model, ...frame } = await session.lastCall();
    const window = session.window({ ...frame, model: model ?? "unknown" });
    const before = await window.look();
    const by =
      to !== undefined
        ? await session.overlays.revertTo(to)
        : await session.overlays.revert(
            overlay ?? (await findNewestOverlay(session)),
            dropUndefined({ edit }),
          );
    const after = await window.look();
    return {
      session: session.id,
      by: by?.seq ?? null,
      isChanged: JSON.stringify(before.messages) !== JSON.stringify(after.messages),
      isHeld:
        after.held?.some(({ revert }) => revert.seq === by?.seq && revert.session === session.id) ?? false,
      tokens: { before: before.tokens, after: after.tokens },
      messages: { before: before.messages.length, after: after.messages.length },
    };
  },
);

async function findNewestOverlay(session: Session): Promise<number> {
  const found = await session.overlays.findLastEdit();
  if (found) return found.entry.seq;
  throw new LonghaulError(
    "ENTRY_NOT_FOUND",
    `There is nothing to revert: ${session.id} has no overlay in effect.`,
    {
      details: { session: session.id },
    },
  );
}

const MAX_REDACTED = 1_000;

const redactEntries = defineRoute(
  {
    id: "redactEntries",
    method: "POST",
    path: "/sessions/{session}/redact",
    tag,
    summary: "Erase the content of entries from disk, after a preview",
    description:
      "The first call is a preview and returns `confirm`; the second call, with it, erases the content, blobs without other references, summaries and receipts that may quote it, and its chunks in the index. The entries keep their places. There is no undo.",
    params: sessionParams,
    body: z.strictObject({
      entries: z.array(entryRefSchema).min(1).max(MAX_REDACTED),
      reason: z.string().max(1_000).optional(),
      confirm: confirmSchema.optional(),
    }),
    reply: z.object({
      session: z.string(),
      isRedacted: z.boolean(),
      entries: about(z.array(entrySchema), "The entries before they are erased; empty afterwards."),
      removes: about(
        z.array(
          z.object({ id: z.string(), cause: z.enum(["named", "copy", "quote", "derived", "original"]) }),
        ),
        "Everything that goes with them; empty afterwards.",
      ),
      confirm: z.string(),
      freed: freedSchema.nullable(),
    }),
    errors: ["SESSION_NOT_FOUND", "ENTRY_NOT_FOUND", "PREVIEW_CHANGED", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body }) => {
    await using session = await openForChange(kernel, caller, params.session);
    const entries: Entry[] = [];
    for (const which of body.entries) {
      const ref = checkEntryRef(caller, session, which);
      const entry = await session.entry(ref);
      if (!entry)
        throw new LonghaulError("ENTRY_NOT_FOUND", `There is no entry ${ref} in ${session.id}.`, {
          details: { session: session.id, id: String(ref) },
        });
      if (!entries.some(({ id }) => id === entry.id)) entries.push(entry);
    }
    const targets = entries.map(({ id, kind }) => ({ id, kind }));
    const confirm = computeConfirmation("redact", { session: session.id, targets });
    if (!isConfirmed(confirm, body.confirm)) {
      const plan = await session.previewRedact(entries.map(({ id }) => id));
      const removes = plan.entries.map(({ session: own, seq, cause }) => ({ id: `${own}#${seq}`, cause }));
      return { session: session.id, isRedacted: false, entries, removes, confirm, freed: null };
    }
    const freed = await session.redact(
      entries.map(({ id }) => id),
      body.reason,
    );
    return { session: session.id, isRedacted: true, entries: [], removes: [], confirm, freed };
  },
);

export const EDIT_ROUTES = [compactSession, revertEdit, redactEntries] as const satisfies readonly ApiRoute[];
