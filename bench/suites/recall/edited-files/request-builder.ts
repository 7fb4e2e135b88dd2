import type { Message } from "../../../../src/model/message.ts";
import { isRequest } from "../../../../src/recall/hits/work-stretch.ts";
import type { HistoryEntry } from "../history/history-entries.ts";
import { normalizeText, rootOf } from "../history/history-question.ts";

/** Fewer words refer to an earlier message ("yes, go on"). */
const MIN_WORDS = 6;

/** A request of a person and the time up to the next one. */
export interface Request {
  readonly kind: "requests";
  readonly text: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Collects the requests of one session; the same words count once. */
export class RequestBuilder {
  readonly #requests: Request[] = [];
  readonly #seen = new Set<string>();
  #current: { readonly text: string; readonly fromMs: number } | undefined;

  add({ session, role, atMs, parts, meta }: HistoryEntry): void {
    if (session !== rootOf(session) || role !== "user") return;
    const text = unwrap(parts.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
    if (!isRequest({ role, parts: [{ type: "text", text }], ...(meta && { meta }) })) return;
    if (isWrittenByTool(meta)) return;
    this.#close(atMs);
    this.#current = { text: text.trim(), fromMs: atMs };
  }

  end(): readonly Request[] {
    this.#close(Number.POSITIVE_INFINITY);
    return this.#requests;
  }

  #close(toMs: number): void {
    if (!this.#current) return;
    const key = normalizeText(this.#current.text);
    if (key.split(" ").length >= MIN_WORDS && !this.#seen.has(key)) {
      this.#seen.add(key);
      this.#requests.push({ kind: "requests", ...this.#current, toMs });
    }
    this.#current = undefined;
  }
}

/** Cline writes the words of a person as an element, before the state of the editor. */
function unwrap(text: string): string {
  return /^\s*<(task|feedback|user_message)>([\s\S]*?)<\/\1>/.exec(text)?.[2] ?? text;
}

/** True for messages that an agent adds in the name of the person: instructions of skills, summaries. */
function isWrittenByTool(meta: Message["meta"]): boolean {
  return Object.values(meta ?? {}).some(
    (fields) =>
      typeof fields === "object" &&
      fields !== null &&
      ("isMeta" in fields || "isCompactSummary" in fields || "synthetic" in fields),
  );
}
