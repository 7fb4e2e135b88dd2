import { z } from "zod";
import {
  type Entry,
  isLonghaulError,
  LonghaulError,
  type MessageInput,
  type Session,
} from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { ApiError } from "../core/api-error.ts";
import { toDecodeFailure } from "../core/decode-failure.ts";
import { decodeMessages, encodeMessages, SESSION_FORMATS } from "../core/message-formats.ts";
import { about } from "../core/named-schema.ts";
import { openForChange, openOwn } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import { limitQuery, sessionParams } from "../schemas/common-schemas.ts";
import { entrySchema, usageCountsSchema } from "../schemas/entry-schemas.ts";
import { foreignMessageSchema, formatSchema, messageInputSchema } from "../schemas/message-input-schemas.ts";

const tag = "Entries";
const MAX_TRIES = 5;

const appendMessages = defineRoute(
  {
    id: "appendMessages",
    method: "POST",
    path: "/sessions/{session}/entries",
    tag,
    weight: "stores",
    summary: "Append messages, all or none",
    description:
      "`messages` are in our format, or in the format of a provider's API. A request with a `key` that the session knows already appends nothing and returns the entries of the first request, so it can be repeated after a lost reply.",
    params: sessionParams,
    body: z.strictObject({
      messages: z.array(foreignMessageSchema).min(1).max(1_000),
      format: formatSchema,
      expectedHead: about(z.number().int().min(0).optional(), "Fails unless this is the session's last seq."),
      key: about(z.string().min(1).max(200).optional(), "Identifies the request, so that it counts once."),
    }),
    reply: z.object({
      entries: z.array(entrySchema),
      isRepeated: about(z.boolean(), "True if the key was known and nothing was appended."),
    }),
    status: 201,
    errors: ["SESSION_NOT_FOUND", "POSITION_CONFLICT", "ARGUMENT_INVALID", "ENTRY_TOO_LARGE", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body, signal }) => {
    const { format, expectedHead, key } = body;
    const inputs = readInputs(format, body.messages);
    if (inputs.length === 0) throw new ApiError("REQUEST_INVALID", "body: messages hold no content.");
    await using session = await openForChange(kernel, caller, params.session);
    if (key !== undefined) return await appendOnce(session, inputs, key, expectedHead);
    const entries = await session.appendAll(inputs, {
      signal,
      ...dropUndefined({ expectedHead }),
    });
    return { entries, isRepeated: false };
  },
);

function readInputs(
  format: (typeof SESSION_FORMATS)[number],
  messages: readonly { readonly [field: string]: unknown }[],
): readonly MessageInput[] {
  if (format === "longhaul") return messages.map(checkInput);
  try {
    return decodeMessages(format, messages);
  } catch (error) {
    throw toDecodeFailure(error, format);
  }
}

function checkInput(message: unknown, index: number): MessageInput {
  const checked = messageInputSchema.safeParse(message);
  if (checked.success) return checked.data as MessageInput;
  const [issue] = checked.error.issues;
  const place = ["messages", index, ...(issue?.path ?? [])].map(String).join(".");
  throw new ApiError("REQUEST_INVALID", `body: ${place}: ${issue?.message ?? "invalid"}.`, {
    details: { place: "body" },
  });
}

/** Appends under a key that counts once; concurrent requests with the same key append once too. */
async function appendOnce(
  session: Session,
  inputs: readonly MessageInput[],
  key: string,
  expectedHead: number | undefined,
): Promise<{ readonly entries: readonly Entry[]; readonly isRepeated: boolean }> {
  const intake = await session.intake(`api ${session.id}`);
  for (let tries = 1; ; tries++) {
    const known = (await intake.find([key])).get(key);
    if (known) {
      const count = Number(known.version ?? 1);
      return { entries: await readAppended(session, known.seq, count), isRepeated: true };
    }
    try {
      const items = inputs.map((message, index) => ({
        ...(index === 0 && { record: { id: key, version: String(inputs.length) } }),
        body: { kind: "message" as const, message },
      }));
      const first = await intake.append(items, expectedHead === undefined ? {} : { expectedHead });
      return { entries: await readAppended(session, first, inputs.length), isRepeated: false };
    } catch (error) {
      if (!isLonghaulError(error, "INTAKE_CONFLICT") || tries === MAX_TRIES) throw error;
      await intake.refresh();
    }
  }
}

function readAppended(session: Session, from: number, limit: number): Promise<readonly Entry[]> {
  return session.read({ from, to: from + limit - 1, limit });
}

const reportUsage = defineRoute(
  {
    id: "reportUsage",
    method: "POST",
    path: "/sessions/{session}/usage",
    tag: "Usage",
    summary: "Store the usage that a provider reported for a call",
    params: sessionParams,
    body: z.strictObject({
      usage: usageCountsSchema,
      model: z.string().min(1),
      request: about(
        z.string().min(1).optional(),
        "Id of the request; a later report of it replaces this one.",
      ),
    }),
    reply: entrySchema,
    status: 201,
    errors: ["SESSION_NOT_FOUND", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params, body }) => {
    await using session = await openForChange(kernel, caller, params.session);
    const { model, request } = body;
    const usage = Object.fromEntries(Object.entries(body.usage).filter(([, count]) => count !== undefined));
    return await session.window({ model }).report(usage, request === undefined ? {} : { request });
  },
);

const readMessages = defineRoute(
  {
    id: "readMessages",
    method: "GET",
    path: "/sessions/{session}/messages",
    tag,
    summary: "Read the newest messages in the format of a provider's API",
    description: "The messages of the active line as they were said, without edits of the window.",
    params: sessionParams,
    query: z.strictObject({
      format: z.enum(SESSION_FORMATS).default("longhaul"),
      limit: limitQuery(1_000, 10_000),
    }),
    reply: z.object({
      format: z.enum(SESSION_FORMATS),
      messages: z.array(z.unknown()),
      system: z.unknown().optional(),
      entries: about(z.array(z.string()), "Ids of the entries of these messages, oldest first."),
      hasMore: about(z.boolean(), "True if the line has older messages."),
    }),
    errors: ["SESSION_NOT_FOUND", "BLOB_TOO_LARGE"],
  },
  async ({ services: { kernel }, caller, params, query: { format, limit }, signal }) => {
    await using session = await openOwn(kernel, caller, params.session);
    const found: Extract<Entry, { kind: "message" }>[] = [];
    let hasMore = false;
    for await (const entry of session.entries({ direction: "older", kinds: ["message"], signal })) {
      if (entry.kind !== "message") continue;
      hasMore = found.length === limit;
      if (hasMore) break;
      found.push(entry);
    }
    if (signal.aborted) throw new LonghaulError("ABORTED", "The request was aborted.");
    const oldest = found.reverse();
    const encoded = await encodeMessages(
      kernel,
      format,
      oldest.map(({ message }) => message),
    );
    return { format, ...encoded, entries: oldest.map(({ id }) => id), hasMore };
  },
);

export const APPEND_ROUTES = [
  appendMessages,
  reportUsage,
  readMessages,
] as const satisfies readonly ApiRoute[];
