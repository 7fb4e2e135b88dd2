import type { Part, ToolCallPart, ToolResultPart } from "../../model/part.ts";
import type { SourceMessage } from "./source-message.ts";

/** A tool call with its result, if there is one yet. */
export interface Action {
  readonly call: ToolCallPart;
  readonly source: SourceMessage;
  result?: { readonly part: ToolResultPart; readonly told: SourceMessage };
}

/** The tool calls of a conversation in order. A result answers the latest open call with its id. */
export function collectActions(messages: readonly SourceMessage[]): readonly Action[] {
  const actions: Action[] = [];
  const open = new Map<string, Action>();
  for (const told of messages) {
    for (const part of told.message.parts) {
      if (part.type === "tool-call") {
        const action: Action = { call: part, source: told };
        actions.push(action);
        open.set(part.callId, action);
      } else if (part.type === "tool-result") {
        const action = open.get(part.callId);
        if (!action) continue;
        action.result = { part, told };
        open.delete(part.callId);
      }
    }
  }
  return actions;
}

/** The text of a result. */
export function getResultText(result: ToolResultPart): string {
  const [first] = result.output;
  if (result.output.length === 1 && first?.type === "text") return first.text;
  return result.output.map(getPartText).join("\n");
}

function getPartText(part: Part): string {
  if (part.type === "text") return part.text;
  return part.type === "blob" ? (part.preview ?? "") : "";
}
