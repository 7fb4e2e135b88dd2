import { checkFields, checkKind } from "./argument-checks.ts";
import type { UsageBody } from "./entry.ts";
import { createArgumentError, LonghaulError } from "./errors.ts";
import { type MessageInput, ROLES } from "./message.ts";
import type { PartInput } from "./part.ts";
import { checkUsage } from "./usage.ts";

/** Returns the validated parts of an input message; throws ARGUMENT_INVALID naming the invalid field. */
export function checkMessageParts(input: MessageInput): readonly PartInput[] {
  if (input === null || typeof input !== "object") {
    throw createArgumentError("message", input, "an object with role and text or parts");
  }
  if (!ROLES.includes(input.role))
    throw createArgumentError("message.role", input.role, `one of ${ROLES.join(", ")}`);
  if (input.text !== undefined) {
    checkString("message.text", input.text);
    if (input.parts === undefined) return [{ type: "text", text: input.text }];
    throw createArgumentError("message.parts", input.parts, "nothing, because message.text is given");
  }
  if ("content" in input) {
    const message = "message.content is not a field of a message; did you mean message.text?";
    throw new LonghaulError("ARGUMENT_INVALID", message, { details: { option: "message.content" } });
  }
  if (!Array.isArray(input.parts)) {
    throw createArgumentError("message.parts", input.parts, "an array of parts, or give message.text");
  }
  for (let index = 0; index < input.parts.length; index++)
    checkPart(input.parts[index], "message.parts", index);
  return input.parts;
}

/** Builds the path of a part only on errors, because this runs on every append. */
function checkPart(part: PartInput, list: string, index: number): void {
  const path = () => `${list}[${index}]`;
  if (part === null || typeof part !== "object") throw createArgumentError(path(), part, "a part object");
  switch (part.type) {
    case "text":
    case "reasoning":
      if (typeof part.text !== "string") checkString(`${path()}.text`, part.text);
      break;
    case "tool-call":
      if (typeof part.name !== "string") checkString(`${path()}.name`, part.name);
      if (typeof part.callId !== "string") checkString(`${path()}.callId`, part.callId);
      if (part.input === undefined) throw createArgumentError(`${path()}.input`, part.input, "a JSON value");
      break;
    case "tool-result":
      if (typeof part.callId !== "string") checkString(`${path()}.callId`, part.callId);
      if (typeof part.output !== "string") checkOutput(part.output, `${path()}.output`);
      break;
    case "blob":
      if (typeof part.digest !== "string") checkString(`${path()}.digest`, part.digest);
      break;
    case "raw":
      if (typeof part.format !== "string") checkString(`${path()}.format`, part.format);
      break;
    case "data":
      if (part.data == null)
        throw createArgumentError(`${path()}.data`, part.data, "base64, bytes or a stream");
      break;
    default:
      throw createArgumentError(
        `${path()}.type`,
        (part as { type?: unknown }).type,
        "text, reasoning, tool-call, tool-result, blob, data or raw",
      );
  }
}

function checkOutput(output: readonly PartInput[], list: string): void {
  if (!Array.isArray(output)) throw createArgumentError(list, output, "a string or an array of parts");
  for (const [index, part] of output.entries()) {
    checkPart(part, list, index);
    if (part.type === "text" || part.type === "blob" || part.type === "data" || part.type === "raw") continue;
    throw createArgumentError(`${list}[${index}].type`, part.type, "text, blob, data or raw");
  }
}

function checkString(option: string, value: unknown): void {
  if (typeof value !== "string") throw createArgumentError(option, value, "a string");
}

/** Returns `body` if it is a usage report that the log can hold, else throws ARGUMENT_INVALID. */
export function checkUsageBody(body: UsageBody): UsageBody {
  checkKind("usage", body, "json");
  if (body.kind !== "usage") throw createArgumentError("usage.kind", body.kind, '"usage"');
  checkUsage(body.usage, "usage.usage");
  return checkFields("usage", body, {
    model: "text?",
    provider: "text?",
    request: "text?",
    meta: "object?",
  });
}
