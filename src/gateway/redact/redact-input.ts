import type { Json, MessageInput, PartInput } from "../../index.ts";
import { findAssigned } from "../../model/secrets/find-assigned.ts";
import { REDACTION_MARK } from "../../model/secrets/found-secret.ts";
import { type RedactedText, redactSecrets } from "../../model/secrets/redact-secrets.ts";

/** A message without its secrets. */
interface RedactedInput {
  readonly message: MessageInput;
  /** The kind of each removed secret. */
  readonly found: readonly string[];
}

/**
 * Removes secrets from all text of a message: text, reasoning, tool inputs and outputs, foreign parts and `meta`. Bytes
 * of media and signatures of providers stay unchanged; a message without secrets is returned as the same object. A
 * secret that is split across two parts is not found.
 */
export function redactInput(
  message: MessageInput,
  redactText: (text: string) => RedactedText = redactSecrets,
): RedactedInput {
  const found: string[] = [];
  let isChanged = false;
  const text = (value: string): string => {
    const redacted = redactText(value);
    for (const kind of redacted.found) found.push(kind);
    if (redacted.text !== value) isChanged = true;
    return redacted.text;
  };
  const clean: MessageInput = {
    ...message,
    ...(message.text === undefined ? {} : { text: text(message.text) }),
    ...(message.parts === undefined ? {} : { parts: message.parts.map((part) => redactPart(part, text)) }),
    ...(message.meta === undefined ? {} : { meta: redactFields(message.meta, text) }),
  };
  return { message: isChanged ? clean : message, found };
}

type RedactText = (value: string) => string;

function redactPart(part: PartInput, text: RedactText): PartInput {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { ...part, text: text(part.text) };
    case "tool-call":
      return { ...part, input: redactJson(part.input, text) };
    case "raw":
      return { ...part, value: redactJson(part.value, text) };
    case "blob":
      return part.preview === undefined ? part : { ...part, preview: text(part.preview) };
    case "data":
      return part;
    case "tool-result":
      return { ...part, output: redactOutput(part.output, text) };
  }
}

type Output = Extract<PartInput, { type: "tool-result" }>["output"];

function redactOutput(output: Output, text: RedactText): Output {
  if (typeof output === "string") return text(output);
  return output.map((part) => redactPart(part, text) as (typeof output)[number]);
}

function redactJson(value: Json, text: RedactText, name = ""): Json {
  if (typeof value === "string") return redactNamed(name, value, text);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => redactJson(item, text, name));
  return redactFields(value, text);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function redactFields(fields: { readonly [key: string]: Json }, text: RedactText): { [key: string]: Json } {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, redactJson(value, text, key)]),
  );
}

/** In JSON, the name of a secret is separate from its value, so both are joined for the check. */
function redactNamed(name: string, value: string, text: RedactText): string {
  const clean = text(value);
  if (clean !== value || value.length > 512 || clean.includes(REDACTION_MARK)) return clean;
  const assigned = findAssigned(`${name}: "${value}"`);
  return assigned.length === 1 ? text(`${name}: "${value}"`).slice(name.length + 3, -1) : clean;
}
