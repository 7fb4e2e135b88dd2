import { z } from "zod";
import { POLICIES, type WindowOptions } from "../../../kernel/faces/window.ts";
import { ApiError } from "../core/api-error.ts";
import { toDecodeFailure } from "../core/decode-failure.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import { fitApart } from "../jobs/fit-task.ts";
import { messageSchema } from "../schemas/entry-schemas.ts";
import { foreignMessageSchema, messageInputSchema } from "../schemas/message-input-schemas.ts";
import { comparisonSchema } from "../schemas/receipt-schemas.ts";

const FORMATS = ["longhaul", "anthropic", "openai-chat", "openai-responses", "ai-sdk"] as const;
const POLICY_NAMES = POLICIES.map(({ name }) => name) as [string, ...string[]];

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
    tag: "Window",
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
      policy: z.enum(POLICY_NAMES).optional(),
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

export const FIT_ROUTES = [fitMessages] as const satisfies readonly ApiRoute[];
