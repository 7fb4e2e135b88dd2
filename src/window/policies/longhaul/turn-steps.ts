import { clipEnd } from "../../../model/base/clip-end.ts";
import type { Json } from "../../../model/json.ts";
import type { Message } from "../../../model/message.ts";
import type { ToolCallPart, ToolResultPart } from "../../../model/part.ts";
import { findTouches } from "../../effects/find-touches.ts";
import { buildOutputHeading } from "../../inline-tool-output.ts";
import type { Slot } from "../../slot.ts";
import type { ExtractLine } from "./extract-notes.ts";

/** One call of the running turn. */
interface Step {
  readonly seq: number;
  readonly cite: string;
  readonly callId: string | undefined;
  /** Tool and target: "Read src/a.ts". */
  readonly label: string;
  outcome: string;
}

const MAX_TARGET_CHARACTERS = 80;
const MAX_ERROR_CHARACTERS = 80;
const EXIT = /\bexit(?:ed with)?(?: code| status)?:? (\d{1,3})\b/i;
/** Fields of a call that name its subject, most telling first. */
const TARGET_FIELDS = ["pattern", "query", "url", "description", "name", "prompt"];

/**
 * Remembers every step of the running turn in one line: tool, target and outcome. A model that no longer sees which
 * files it has read reads them again, so these lines stay in the window when the steps leave it.
 */
export class TurnSteps {
  #steps: Step[] = [];

  /** Begins a new turn. */
  begin(): void {
    this.#steps = [];
  }

  /** Records the calls and results of the next message; `isOutput` is true for a user message with tool output only. */
  observe({ seq, cite = `#${seq}`, message }: Slot, isOutput: boolean): void {
    if (isOutput) {
      const label = buildOutputHeading(message) ?? "tool";
      const outcome = describeOutput(textOf(message.parts), false);
      this.#steps.push({ seq, cite, callId: undefined, label, outcome });
      return;
    }
    for (const part of message.parts) {
      if (part.type === "tool-call")
        this.#steps.push({ seq, cite, callId: part.callId, label: describeStep(part), outcome: "" });
      if (part.type !== "tool-result") continue;
      const step = this.#steps.findLast(({ callId, outcome }) => callId === part.callId && outcome === "");
      if (step) step.outcome = describeOutput(textOf(part.output), part.isError === true);
    }
  }

  /** A line for each step whose message is not among the shown ones. */
  listLines(shown: ReadonlySet<number>): readonly ExtractLine[] {
    const bySeq = Map.groupBy(
      this.#steps.filter(({ seq }) => !shown.has(seq)),
      ({ seq }) => seq,
    );
    return [...bySeq].map(([seq, steps]): ExtractLine => {
      const heading = steps.map(({ label, outcome }) => label + outcome).join("; ");
      return { text: "", source: { seq, cite: steps[0]?.cite ?? `#${seq}`, heading }, order: -2 };
    });
  }
}

function describeStep(call: ToolCallPart): string {
  const touches = findTouches(call);
  const paths = [...new Set(touches.flatMap(({ path }) => path ?? []))];
  const command = touches.find(({ kind }) => kind === "run")?.command;
  const target = command ?? (paths.length > 0 ? paths.join(" ") : findTarget(call.input));
  return target === "" ? call.name : `${call.name} ${toOneLine(target, MAX_TARGET_CHARACTERS)}`;
}

function findTarget(input: Json): string {
  if (typeof input === "string") return input;
  if (input === null || typeof input !== "object" || Array.isArray(input)) return "";
  const fields = input as { readonly [key: string]: Json };
  const named = TARGET_FIELDS.map((name) => fields[name]);
  const found = [...named, ...Object.values(fields)].find((value) => typeof value === "string");
  return typeof found === "string" ? found : "";
}

function describeOutput(text: string, isError: boolean): string {
  const exit = EXIT.exec(text.slice(0, 400))?.[1] ?? EXIT.exec(text.slice(-400))?.[1];
  if (exit !== undefined && exit !== "0") return `: exit ${exit}`;
  if (isError) return `: error, ${toOneLine(text, MAX_ERROR_CHARACTERS)}`;
  const lines = text === "" ? 0 : text.trimEnd().split("\n").length;
  return lines === 0 ? "" : `, ${lines} ${lines === 1 ? "line" : "lines"}`;
}

function textOf(parts: Message["parts"] | ToolResultPart["output"]): string {
  return parts
    .flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "blob" ? [part.preview ?? ""] : [],
    )
    .join("\n");
}

function toOneLine(text: string, most: number): string {
  return clipEnd(text.replace(/[\s[\]]+/g, " ").trim(), most);
}
