import { textOfMessage } from "../../model/message.ts";
import { renderInput } from "../../window/extract/part-text.ts";
import { getResultText } from "../extractive/actions.ts";
import { isResultText } from "../extractive/extract-own-text.ts";
import type { SourceMessage } from "../extractive/source-message.ts";

/** The text of a summary's source, by trustworthiness. */
export interface SourceText {
  /** All text, including the earlier summary. */
  readonly all: string;
  /** Text and calls of user and assistant. */
  readonly own: string;
  /** Tool output, by result. */
  readonly results: readonly string[];
}

/** Collects the text of a conversation and of the summary before it. */
export function collectSourceText(messages: readonly SourceMessage[], previous: string): SourceText {
  const own: string[] = [previous];
  const results: string[] = [];
  const thoughts: string[] = [];
  for (const { message } of messages) {
    for (const part of message.parts) {
      if (part.type === "tool-call") own.push(renderInput(part.input), part.name);
      else if (part.type === "tool-result") results.push(getResultText(part));
      else if (part.type === "reasoning") thoughts.push(part.text);
      else if (part.type === "text" && message.role === "user" && isResultText(part.text))
        results.push(part.text);
    }
    const text = textOfMessage(message);
    if (message.role === "tool") results.push(text);
    else if (!isResultText(text)) own.push(text);
  }
  const ownText = own.join("\n");
  return { own: ownText, results, all: [ownText, ...results, ...thoughts].join("\n").replaceAll("\\", "/") };
}
