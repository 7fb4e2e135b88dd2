import { z } from "zod";
import { diffWindows, type WindowChange } from "../../../kernel/faces/window.ts";
import { type CompactionResult, type Entry, LonghaulError, type Session } from "../../../kernel/index.ts";
import { isAdminCaller } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import { computeConfirmation, isConfirmed } from "../core/confirmation.ts";
import { about } from "../core/named-schema.ts";
import { checkEntryRef, openForChange } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import {
  confirmSchema,
  entryRefSchema,
  freedSchema,
  seqSchema,
  sessionParams,
} from "../schemas/common-schemas.ts";
import { entrySchema } from "../schemas/entry-schemas.ts";
import { compactionSchema, revertSchema } from "../schemas/window-schemas.ts";

const tag = "Edits";

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
      budgetTokens: z.number().int().min(300).optional(),
    }),
    reply: compactionSchema,
    errors: ["SESSION_NOT_FOUND", "COMPACTION_BUSY", "PROVIDER_UNCONFIGURED", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body, signal }) => {
    const { model, fallback, instructions, budgetTokens, dryRun } = body;
    if ((model !== undefined || fallback !== undefined) && !isAdminCaller(caller))
      throw new ApiError("FORBIDDEN", "Only the person who runs the gateway may name a model for summaries.");
    await using session = await openForChange(kernel, caller, params.session);
    const result = await session.compact({
      ...(model !== undefined && { model }),
      ...(fallback !== undefined && { fallback }),
      ...(instructions !== undefined && { instructions }),
      ...(budgetTokens !== undefined && { budgetTokens }),
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
        : await session.overlays.revert(overlay ?? (await findNewestOverlay(session)), {
            ...(edit !== undefined && { edit }),
          });
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
    if (!isConfirmed(confirm, body.confirm))
      return { session: session.id, isRedacted: false, entries, confirm, freed: null };
    const freed = await session.redact(
      entries.map(({ id }) => id),
      body.reason,
    );
    return { session: session.id, isRedacted: true, entries: [], confirm, freed };
  },
);

export const EDIT_ROUTES = [compactSession, revertEdit, redactEntries] as const satisfies readonly ApiRoute[];
