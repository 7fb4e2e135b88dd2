import type { ToolCallPart, ToolResultPart } from "../../../../src/model/part.ts";
import { findTouches } from "../../../../src/window/effects/find-touches.ts";
import type { HistoryEntry } from "./history-entries.ts";
import { type HistoryKind, type HistoryQuestion, normalizeText, rootOf } from "./history-question.ts";
import { PlanState } from "./plan-state.ts";
import { RepairState } from "./repair-state.ts";

/** Fewer words name no piece of work. */
const MIN_WORDS = 4;
const MIN_REPORT_WORDS = 6;
const REPORTS_PER_TURN = 2;
/** A plan item that is done sooner was only ticked off. */
const MIN_PLAN_MS = 5_000;

/** Collects the questions that a history answers; entries come session by session, in order. */
export class QuestionBuilder {
  readonly questions: HistoryQuestion[] = [];
  readonly #seen = new Set<string>();
  #session = "";
  #commitMs = 0;
  #edits = 0;
  #turnMs = 0;
  #turnEdits = 0;
  #plan = new PlanState();
  #repairs = new RepairState();
  /** Calls that run commands. */
  readonly #commands = new Set<string>();
  #closing: { readonly text: string; readonly atMs: number } | undefined;

  add(entry: HistoryEntry): void {
    // Sub-agents do the work of the session that started them.
    if (entry.session !== rootOf(entry.session)) return;
    if (entry.session !== this.#session) this.#begin(entry.session);
    if (entry.role === "user") {
      this.#endTurn();
      this.#turnMs = entry.atMs;
    }
    for (const part of entry.parts) if (part.type === "tool-result") this.#addResult(part, entry.atMs);
    if (entry.role !== "assistant") return;
    let closing = "";
    for (const part of entry.parts) {
      if (part.type === "text") closing = part.text;
      if (part.type === "tool-call") {
        closing = "";
        this.#addCall(part, entry.atMs);
      }
    }
    this.#closing = closing === "" ? undefined : { text: closing, atMs: entry.atMs };
  }

  /** Call after the last entry. */
  end(): readonly HistoryQuestion[] {
    this.#endTurn();
    return this.questions;
  }

  #begin(session: string): void {
    this.#endTurn();
    this.#session = session;
    this.#commitMs = this.#edits = this.#turnMs = this.#turnEdits = 0;
    this.#plan = new PlanState();
    this.#repairs = new RepairState();
    this.#commands.clear();
  }

  #addResult({ callId, output }: ToolResultPart, atMs: number): void {
    if (!this.#commands.delete(callId)) return;
    const text = output.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    for (const { name, error, fromMs } of this.#repairs.noteOutput(text, atMs))
      this.#ask("repairs", `${name} ${error}`, fromMs, atMs, MIN_WORDS, [name, error]);
  }

  #addCall(call: ToolCallPart, atMs: number): void {
    const touches = findTouches(call);
    if (touches.some(({ kind }) => kind === "edit" || kind === "write")) {
      this.#edits++;
      this.#turnEdits++;
      this.#repairs.noteEdit();
    }
    if (touches.some(({ kind }) => kind === "run")) this.#commands.add(call.callId);
    for (const { text, fromMs } of this.#plan.update(call, atMs))
      if (atMs - fromMs > MIN_PLAN_MS) this.#ask("plans", text, fromMs, atMs, MIN_WORDS);
    const subject = touches.flatMap(({ command }) => parseSubject(command ?? "") ?? [])[0];
    if (subject === undefined) return;
    if (this.#edits > 0) this.#ask("commits", subject, this.#commitMs, atMs, MIN_WORDS);
    this.#commitMs = atMs;
    this.#edits = 0;
  }

  /** The lines of the closing message report the work of the turn, which ends before them. */
  #endTurn(): void {
    if (this.#closing && this.#turnEdits > 0) {
      const { text, atMs } = this.#closing;
      const lines = text.split("\n").filter((line) => /^\s*(?:[-*]|\d+\.)\s/.test(line));
      for (const line of lines.slice(0, REPORTS_PER_TURN)) {
        const words = line.replace(/^\s*(?:[-*]|\d+\.)\s+/, "").replace(/[`*]/g, "");
        this.#ask("reports", words, this.#turnMs, atMs - 1, MIN_REPORT_WORDS);
      }
    }
    this.#closing = undefined;
    this.#turnEdits = 0;
  }

  #ask(
    kind: HistoryKind,
    text: string,
    fromMs: number,
    toMs: number,
    minWords: number,
    quoted?: readonly string[],
  ): void {
    const key = normalizeText(text);
    if (key.split(" ").length < minWords || this.#seen.has(`${kind} ${key}`)) return;
    this.#seen.add(`${kind} ${key}`);
    this.questions.push({ kind, text, session: this.#session, fromMs, toMs, ...(quoted && { quoted }) });
  }
}

/** The subject of a commit without its conventional prefix. */
function parseSubject(command: string): string | undefined {
  if (!/\bgit\s+(?:-C\s+\S+\s+)?commit\b/.test(command) || command.includes("--amend")) return undefined;
  const heredoc = /<<-?\s*['"]?(\w+)['"]?\n([\s\S]*?)\n\s*\1\b/.exec(command)?.[2];
  const quoted = /\s-a?m\s+(?:"((?:[^"\\]|\\.)*)"|'([^']*)')/.exec(command);
  const message = heredoc ?? quoted?.[1] ?? quoted?.[2];
  const first = message?.split("\n").find((line) => line.trim() !== "");
  return first?.trim().replace(/^\w+(?:\([^)]*\))?!?:\s+/, "");
}
