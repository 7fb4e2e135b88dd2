import type { Json, ToolResultInput } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { rawSdkPart, reasoningPart, type SdkPart, toolOutputOf } from "./ai-sdk-parts.ts";
import { arrayOf, definedFields, fieldsBesides, objectOf, textOf } from "./fields.ts";
import { dataPartOfUrl } from "./media.ts";

/** One step of a UIMessage: text and calls, and the results of the calls. */
export interface UiStep {
  readonly said: readonly SdkPart[];
  readonly results: readonly SdkPart[];
}

/** Splits the parts of a UIMessage into steps; returns at least one. */
export function stepsOfUiParts(parts: unknown): readonly UiStep[] {
  const steps: { said: SdkPart[]; results: SdkPart[] }[] = [];
  const begin = () => {
    const step: { said: SdkPart[]; results: SdkPart[] } = { said: [], results: [] };
    steps.push(step);
    return step;
  };
  for (const value of arrayOf(parts)) {
    const part = objectOf(value);
    if (part?.type === "step-start") {
      begin();
      continue;
    }
    const step = steps.at(-1) ?? begin();
    const tool = part && toolOf(part);
    if (tool) {
      step.said.push(tool.call);
      if (tool.result) step.results.push(tool.result);
    } else step.said.push((part && sayingOf(part)) ?? rawSdkPart(value));
  }
  if (steps.length === 0) begin();
  return steps;
}

function sayingOf(part: JsonObject): SdkPart | undefined {
  switch (part.type) {
    case "text":
      if (typeof part.text !== "string") return undefined;
      return {
        part: { type: "text", text: part.text },
        extra: fieldsBesides(part, ["type", "text", ...done(part)]),
      };
    case "reasoning": {
      const { state: _, ...rest } = part;
      return reasoningPart(done(part).length > 0 ? rest : part, "providerMetadata");
    }
    case "file": {
      const data = dataPartOfUrl(part.url, textOf(part.filename));
      return data && { part: data, extra: fieldsBesides(part, ["type", "url", "mediaType", "filename"]) };
    }
    default:
      return undefined;
  }
}

/** Names the state field of a finished part, which need not be kept. */
function done(part: JsonObject): readonly string[] {
  return part.state === "done" ? ["state"] : [];
}

/** States that follow from a call and its result. */
const PLAIN_STATES: readonly unknown[] = [
  "input-available",
  "output-available",
  "output-error",
  "call",
  "result",
];

function toolOf(part: JsonObject): { readonly call: SdkPart; readonly result?: SdkPart } | undefined {
  const tool = part.type === "tool-invocation" ? objectOf(part.toolInvocation) : part;
  const callId = textOf(tool?.toolCallId);
  if (!tool || callId === undefined || typeof part.type !== "string") return undefined;
  const isNamed = part.type.startsWith("tool-") && part.type !== "tool-invocation";
  const name = isNamed ? part.type.slice("tool-".length) : textOf(tool.toolName);
  if (name === undefined || name === "") return undefined;
  const known = [
    "type",
    "toolCallId",
    "toolName",
    "input",
    "args",
    "rawInput",
    "output",
    "result",
    "errorText",
  ];
  const extra = {
    ...fieldsBesides(tool, [...known, ...(PLAIN_STATES.includes(tool.state) ? ["state"] : [])]),
    ...(part.type === "dynamic-tool" && { dynamic: true }),
  };
  const input = (tool.input ?? tool.rawInput ?? tool.args ?? {}) as Json;
  const result = resultOf(tool, callId, name);
  return {
    call: {
      part: { type: "tool-call", callId, name, input },
      extra: Object.keys(extra).length > 0 ? extra : undefined,
    },
    ...(result && { result }),
  };
}

function resultOf(tool: JsonObject, callId: string, name: string): SdkPart | undefined {
  const answer = answerOf(tool);
  if (!answer) return undefined;
  const { output, isError, extra } = answer;
  const part: ToolResultInput = { type: "tool-result", callId, name, ...definedFields({ isError }), output };
  return { part, extra };
}

interface Answer {
  readonly output: ToolResultInput["output"];
  readonly isError?: true;
  readonly extra?: { readonly [field: string]: Json };
}

function answerOf(tool: JsonObject): Answer | undefined {
  if (tool.state === "output-error") return { output: String(tool.errorText ?? ""), isError: true };
  if (tool.state === "output-denied")
    return { output: textOf(objectOf(tool.approval)?.reason) ?? "", isError: true };
  if (tool.state !== "output-available" && tool.state !== "result") return undefined;
  const output = tool.output ?? tool.result;
  if (typeof output === "string") return { output };
  const own = objectOf(output);
  // Several pieces in the form that this library writes.
  const pieces = own?.type === "content" && Array.isArray(own.value) ? toolOutputOf(own) : undefined;
  if (pieces) return { output: pieces.output, ...(own?.isError === true && { isError: true }) };
  return { output: JSON.stringify(output ?? null), extra: { output: { type: "json" } } };
}
