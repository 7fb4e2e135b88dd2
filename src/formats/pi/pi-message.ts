import type { Json, PartInput, Role } from "../../index.ts";
import { dropUndefined, omitFields, toObject, toText } from "../../wire/fields.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import { CopyFilter } from "../copies/copy-filter.ts";
import { COPY_RULES } from "../copies/copy-rules.ts";
import { KnownTexts } from "../copies/known-texts.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { decodePiContent, decodePiOutput } from "./pi-block-decode.ts";

/** A converted pi message. */
interface PiMessage {
  readonly role: Role;
  readonly parts: readonly PartInput[];
  readonly model?: string;
  /** Small fields that our message cannot represent; they go into its meta. */
  readonly meta: Leftovers;
  /** Fields that are too large for meta. */
  readonly large?: Leftovers;
  readonly copiedBytes: number;
  readonly callId?: string;
}

/** Converts a message; undefined if its role or shape is unknown. `at` is the time of its entry. */
export function decodePiMessage(
  message: JsonObject,
  format: string,
  at: number | undefined,
): PiMessage | undefined {
  const shaped = decodeShape(message, format);
  if (!shaped) return undefined;
  const known = ["role", ...shaped.fields, ...(message.timestamp === at ? ["timestamp"] : [])];
  const rest = omitFields(message, known);
  const { value, bytes } = removeDetailCopies(rest, shaped.output);
  const { small, large } = splitLeftovers(value);
  return {
    role: shaped.role,
    parts: shaped.parts,
    meta: dropUndefined({
      role: shaped.isNamed ? undefined : (message.role as string),
      plain: typeof message.content === "string" ? true : undefined,
      extras: shaped.extras,
      message: small,
    }) as Leftovers,
    copiedBytes: bytes,
    ...dropUndefined({ model: shaped.model, large, callId: shaped.callId }),
  };
}

interface MessageShape {
  readonly role: Role;
  readonly parts: readonly PartInput[];
  readonly extras?: Json;
  readonly model?: string;
  readonly callId?: string;
  /** Text of a tool's output, to find copies. */
  readonly output?: string;
  /** Fields that the other properties represent. */
  readonly fields: readonly string[];
  /** True if pi's role follows from ours. */
  readonly isNamed?: boolean;
}

function decodeShape(message: JsonObject, format: string): MessageShape | undefined {
  const content = () => decodePiContent(message.content, format);
  switch (message.role) {
    case "user":
    case "system":
      return { role: message.role, ...content(), fields: ["content"], isNamed: true };
    case "assistant": {
      const model = toText(message.model);
      const fields = ["content", "usage", ...(model === undefined ? [] : ["model"])];
      return { role: "assistant", ...content(), fields, isNamed: true, ...dropUndefined({ model }) };
    }
    case "toolResult":
      return typeof message.toolCallId === "string"
        ? decodeToolResult(message, message.toolCallId, format)
        : undefined;
    case "custom":
    case "hookMessage":
      return { role: "user", ...content(), fields: ["content"] };
    case "bashExecution":
      return decodeBashExecution(message);
    case "branchSummary":
    case "compactionSummary":
      if (typeof message.summary !== "string") return undefined;
      return { role: "user", parts: [{ type: "text", text: message.summary }], fields: ["summary"] };
    default:
      return undefined;
  }
}

function decodeToolResult(message: JsonObject, callId: string, format: string): MessageShape {
  const output = decodePiOutput(message.content, format);
  const name = toText(message.toolName);
  const isError = typeof message.isError === "boolean" ? message.isError : undefined;
  const fields = ["content", "toolCallId", "usage"];
  if (name !== undefined) fields.push("toolName");
  if (isError !== undefined) fields.push("isError");
  const texts =
    typeof output === "string" ? [output] : output.flatMap((part) => (part.type === "text" ? part.text : []));
  return {
    role: "tool",
    parts: [{ type: "tool-result", callId, ...dropUndefined({ name, isError }), output }],
    callId,
    output: texts.join("\n"),
    fields,
    isNamed: true,
  };
}

/** Converts a command that the user ran: the command, then its output. */
function decodeBashExecution(message: JsonObject): MessageShape | undefined {
  const { command, output } = message;
  if (typeof command !== "string" || typeof output !== "string") return undefined;
  const parts: PartInput[] = [{ type: "text", text: `Ran \`${command}\`` }];
  if (output !== "") parts.push({ type: "text", text: output });
  return { role: "user", parts, fields: ["command", "output"] };
}

function removeDetailCopies(
  rest: Leftovers | undefined,
  output: string | undefined,
): { readonly value: Leftovers | undefined; readonly bytes: number } {
  if (!rest || !output) return { value: rest, bytes: 0 };
  const evidence = new KnownTexts(COPY_RULES.pi, { searched: [output] });
  const { value, copied } = new CopyFilter(COPY_RULES.pi, evidence).strip(rest);
  return { value: toObject(value) as Leftovers | undefined, bytes: copied };
}
