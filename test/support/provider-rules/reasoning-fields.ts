import { refuse } from "./bound-reasoning.ts";
import { type Fields, fieldsIn, type Judgement, type LostReasoning, type ModelRequest } from "./judgement.ts";

/** Servers of the Chat Completions API that want reasoning back, each by its own rule. */
type Dialect = "deepseek-v3" | "deepseek-v4" | "deepseek-r1" | "kimi" | "glm" | "openrouter" | "plain";

/** The reply that reasoning belongs to, by the reasoning: its first call, or its words. */
export type KeptFields = ReadonlyMap<string, string>;

function dialectOf(model: string): Dialect {
  if (model.includes("/")) return "openrouter";
  if (/deepseek-(?:r1|reasoner)/.test(model)) return "deepseek-r1";
  if (/deepseek-v3/.test(model)) return "deepseek-v3";
  if (/deepseek/.test(model)) return "deepseek-v4";
  if (/kimi/.test(model)) return "kimi";
  return /glm-(?:4\.[7-9]|[5-9])/.test(model) ? "glm" : "plain";
}

/** Judges the reasoning that a request brings back in the fields of its assistant messages. */
export function judgeFields({ body }: ModelRequest, produced: KeptFields): Judgement {
  const dialect = dialectOf(String(body.model));
  const sent: string[] = [];
  const lost: LostReasoning[] = [];
  const hasTools = fieldsIn(body.tools).length > 0;
  for (const [index, message] of fieldsIn(body.messages).entries()) {
    if (message.role !== "assistant") continue;
    const field = reasoningOf(message, dialect);
    const refusal = refuseField(dialect, message, field, index, hasTools, produced);
    if (refusal) return { sent, alive: aliveOf(sent, lost), lost, refusal };
    const owned = [...produced].find(([, owner]) => owner === ownerOf(message))?.[0];
    if (field !== undefined && field !== "") sent.push(field);
    // A server that refuses nothing answers worse, and caches less.
    if (owned !== undefined && field !== owned)
      lost.push({
        path: `messages.${index}`,
        reason: field === undefined ? "left_out" : "changed",
        seal: owned,
      });
  }
  return { sent, alive: aliveOf(sent, lost), lost };
}

/** Remembers the reasoning of a reply. */
export function keepFields(model: string, message: Fields, produced: KeptFields): KeptFields {
  const field = reasoningOf(message, dialectOf(model));
  return field === undefined || field === "" ? produced : new Map(produced).set(field, ownerOf(message));
}

function aliveOf(sent: readonly string[], lost: readonly LostReasoning[]): readonly string[] {
  return sent.filter((seal) => lost.every((one) => one.seal !== seal));
}

function reasoningOf(message: Fields, dialect: Dialect): string | undefined {
  const { reasoning_content: content, reasoning_details: details } = message;
  if (dialect === "openrouter") return details === undefined ? undefined : JSON.stringify(details);
  return content === undefined || content === null ? undefined : String(content);
}

/** A name for a reply that no client changes without breaking it: the ids of its calls, else its words. */
function ownerOf({ tool_calls: calls, content }: Fields): string {
  const ids = fieldsIn(calls).map(({ id }) => String(id));
  return ids.length > 0 ? ids.join() : `words: ${JSON.stringify(content)}`;
}

function refuseField(
  dialect: Dialect,
  message: Fields,
  field: string | undefined,
  index: number,
  hasTools: boolean,
  produced: KeptFields,
) {
  const hasCalls = fieldsIn(message.tool_calls).length > 0;
  const isMoved = field !== undefined && field !== "" && produced.get(field) !== ownerOf(message);
  switch (dialect) {
    case "deepseek-v4":
      return hasTools && field === undefined
        ? refuse(
            "reasoning-field",
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
          )
        : undefined;
    case "deepseek-v3":
      return hasTools && field === undefined
        ? refuse(
            "reasoning-field",
            `Missing \`reasoning_content\` field in the assistant message at message index ${index}`,
          )
        : undefined;
    case "deepseek-r1":
      return field === undefined
        ? undefined
        : refuse("reasoning-field", "The reasoning_content field must not be sent back to the API.");
    case "kimi":
      return hasCalls && !field
        ? refuse(
            "reasoning-field",
            `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
          )
        : undefined;
    case "openrouter":
      return isMoved ? refuse("reasoning-details", "Invalid signature in reasoning_details") : undefined;
    default:
      return undefined;
  }
}
