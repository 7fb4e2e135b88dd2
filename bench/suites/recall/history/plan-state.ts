import type { ToolCallPart } from "../../../../src/model/part.ts";

interface PlanItem {
  readonly text: string;
  readonly status: string;
}

/** Follows an agent's plan: which items are being worked on, and since when. */
export class PlanState {
  readonly #openSince = new Map<string, number>();
  readonly #created: string[] = [];

  /** Notes a call and returns the items that it reports as done, with the time at which they were begun. */
  update({ name, input }: ToolCallPart, atMs: number): { text: string; fromMs: number }[] {
    const done: { text: string; fromMs: number }[] = [];
    for (const { text, status } of this.#readItems(name, input)) {
      const since = this.#openSince.get(text);
      if (status === "in_progress" && since === undefined) this.#openSince.set(text, atMs);
      if (status !== "completed" || since === undefined) continue;
      this.#openSince.delete(text);
      done.push({ text, fromMs: since });
    }
    return done;
  }

  #readItems(name: string, input: unknown): PlanItem[] {
    const fields = (typeof input === "string" ? parseJson(input) : input) as Record<string, unknown> | null;
    if (!fields || typeof fields !== "object") return [];
    if (name === "TaskCreate") {
      this.#created.push(String(fields.subject ?? ""));
      return [];
    }
    if (name === "TaskUpdate") {
      const text = this.#created[Number(fields.taskId) - 1];
      return text === undefined ? [] : [{ text, status: String(fields.status) }];
    }
    const list = fields.todos ?? fields.plan;
    if (!Array.isArray(list)) return [];
    return list.map((item) => ({
      text: String(item?.content ?? item?.step ?? ""),
      status: String(item?.status ?? ""),
    }));
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
