import { toObject } from "../../wire/fields.ts";
import type { WireObject } from "../../wire/wire.ts";
import type { Exchange } from "../exchange/exchange-state.ts";
import { type BodyChanges, buildOutgoingBody } from "../outgoing/outgoing-body.ts";
import { listPieceElements } from "../outgoing/outgoing-pieces.ts";
import { appendMemories } from "../recall/pinned-memories.ts";
import { CHAIN_FIELDS } from "../request/chain.ts";
import { CONTEXT_MANAGEMENT } from "../request/context-edit.ts";
import { lowerOutputFields } from "../request/output-fields.ts";
import { STREAM_OPTIONS } from "../request/stream-usage.ts";

/** The body to send for an exchange, with the `elements` of earlier rounds appended. */
export function buildExchangeBody(
  { request, target, call, recall, asksUsage }: Exchange,
  elements: readonly WireObject[] | undefined,
): readonly Uint8Array[] {
  const { model, clientModel } = target;
  const { pieces, isFromLog, maxOutputTokens } = call;
  const { api, messages, edits, isDryRun } = call.request;
  const { all } = request.fields;
  const fields = new Map<string, unknown>();
  if (model !== clientModel) fields.set("model", model);
  if (maxOutputTokens !== undefined && call.isEditable)
    for (const [name, value] of lowerOutputFields(all, maxOutputTokens)) fields.set(name, value);
  if (asksUsage) fields.set(STREAM_OPTIONS, { ...toObject(all[STREAM_OPTIONS]), include_usage: true });
  // A plain text becomes a list if more messages are sent.
  if (isFromLog && messages.cut.listFrom === undefined)
    fields.set(api.messagesField, listPieceElements(messages.cut, pieces ?? []));
  const removed = edits && !isDryRun ? [CONTEXT_MANAGEMENT] : [];
  if (isFromLog) removed.push(...CHAIN_FIELDS.filter((name) => (all[name] ?? null) !== null));
  const changes: BodyChanges = { pieces, removed, ...(fields.size > 0 && { fields }) };
  const added = recall?.addTo(changes, elements) ?? changes;
  const { text } = call.request.memories ?? {};
  const whole = text === undefined ? added : appendMemories(api.name, request.messages, added, text);
  return buildOutgoingBody(request.messages, whole);
}
