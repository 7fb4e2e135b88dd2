import type { Json, ToolResultInput } from "../../index.ts";
import {
  type AiSdkPart,
  buildRawSdkPart,
  decodeReasoningPart,
  decodeSdkToolOutput,
} from "../../wire/ai-sdk/ai-sdk-part-decode.ts";
import { dropUndefined, omitFields, toArray, toObject, toText } from "../../wire/fields.ts";
import { parseDataUrl } from "../../wire/media.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** One step of a UIMessage: text and calls, and the results of the calls. */
interface UiStep {
  readonly said: readonly AiSdkPart[];
  readonly results: readonly AiSdkPart[];
}

/** Splits the parts of a UIMessage into steps; returns at least one. */
export function splitUiSteps(parts: unknown): readonly UiStep[] {
  const steps: { said: AiSdkPart[]; results: AiSdkPart[] }[] = [];
  const begin = () => {
    const step: { said: AiSdkPart[]; results: AiSdkPart[] } = { said: [], results: [] };
    steps.push(step);
    return step;
  };
  for (const value of toArray(parts)) {
    const part = toObject(value);
    if (part?.type === "step-start") {
      begin();
      continue;
    }
    const step = steps.at(-1) ?? begin();
    const tool = part && decodeToolPart(part);
    if (tool) {
      step.said.push(tool.call);
      if (tool.result) step.results.push(tool.result);
    } else step.said.push((part && decodeContentPart(part)) ?? buildRawSdkPart(value));
  }
  if (steps.length === 0) begin();
  return steps;
}

function decodeContentPart(part: JsonObject): AiSdkPart | undefined {
  switch (part.type) {
    case "text":
      if (typeof part.text !== "string") return undefined;
      return {
        part: { type: "text", text: part.text },
        extra: omitFields(part, ["type", "text", ...getDoneFields(part)]),
      };
    case "reasoning": {
      const { state: _, ...rest } = part;
      return decodeReasoningPart(getDoneFields(part).length > 0 ? rest : part, "providerMetadata");
    }
    case "file": {
      const data = parseDataUrl(part.url, toText(part.filename));
      return data && { part: data, extra: omitFields(part, ["type", "url", "mediaType", "filename"]) };
    }
    default:
      return undefined;
  }
}

/** Names the state field of a finished part, which need not be kept. */
function getDoneFields(part: JsonObject): readonly string[] {
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

function decodeToolPart(
  part: JsonObject,
): { readonly call: AiSdkPart; readonly result?: AiSdkPart } | undefined {
  const tool = part.type === "tool-invocation" ? toObject(part.toolInvocation) : part;
  const callId = toText(tool?.toolCallId);
  if (!tool || callId === undefined || typeof part.type !== "string") return undefined;
  const isNamed = part.type.startsWith("tool-") && part.type !== "tool-invocation";
  const name = isNamed ? part.type.slice("tool-".length) : toText(tool.toolName);
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
    ...omitFields(tool, [...known, ...(PLAIN_STATES.includes(tool.state) ? ["state"] : [])]),
    ...(part.type === "dynamic-tool" && { dynamic: true }),
  };
  const input = (tool.input ?? tool.rawInput ?? tool.args ?? {}) as Json;
  const result = decodeResult(tool, callId, name);
  return {
    call: {
      part: { type: "tool-call", callId, name, input },
      extra: Object.keys(extra).length > 0 ? extra : undefined,
    },
    ...(result && { result }),
  };
}

function decodeResult(tool: JsonObject, callId: string, name: string): AiSdkPart | undefined {
  const answer = decodeAnswer(tool);
  if (!answer) return undefined;
  const { output, isError, extra } = answer;
  const part: ToolResultInput = { type: "tool-result", callId, name, ...dropUndefined({ isError }), output };
  return { part, extra };
}

interface ToolAnswer {
  readonly output: ToolResultInput["output"];
  readonly isError?: true;
  readonly extra?: { readonly [field: string]: Json };
}

function decodeAnswer(tool: JsonObject): ToolAnswer | undefined {
  if (tool.state === "output-error") return { output: String(tool.errorText ?? ""), isError: true };
  if (tool.state === "output-denied")
    return { output: toText(toObject(tool.approval)?.reason) ?? "", isError: true };
  if (tool.state !== "output-available" && tool.state !== "result") return undefined;
  const output = tool.output ?? tool.result;
  if (typeof output === "string") return { output };
  const own = toObject(output);
  // Several pieces in the form that this library writes.
  const pieces = own?.type === "content" && Array.isArray(own.value) ? decodeSdkToolOutput(own) : undefined;
  if (pieces) return { output: pieces.output, ...(own?.isError === true && { isError: true }) };
  return { output: JSON.stringify(output ?? null), extra: { output: { type: "json" } } };
}
