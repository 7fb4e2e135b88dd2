import type { Entry, Session, TaskNotice } from "../../index.ts";
import { parseNoticeIds } from "./notice-message.ts";

const PAGE = 500;

/** The notices in a session's log that its model has not been told about; each is returned once, even after crashes. */
export class Notices {
  readonly #session: Session;
  #position: number;

  constructor(session: Session, at: number) {
    this.#session = session;
    this.#position = at;
  }

  /** Starts at the last agent's checkpoint in the session. */
  static async open(session: Session): Promise<Notices> {
    for await (const entry of session.entries({ direction: "older", kinds: ["task"] })) {
      const at = parseCheckpoint(entry);
      if (at !== undefined) return new Notices(session, at);
    }
    return new Notices(session, 0);
  }

  /** The current position, as a checkpoint. */
  get checkpoint(): { readonly noticesTo: number } {
    return { noticesTo: this.#position };
  }

  /** The notices that have arrived since and were not reported yet. */
  async readUnreported(): Promise<readonly TaskNotice[]> {
    const found: TaskNotice[] = [];
    const told = new Set<string>();
    for (;;) {
      const entries = await this.#session.read({
        from: this.#position + 1,
        limit: PAGE,
        kinds: ["message", "task"],
      });
      for (const entry of entries) {
        if (entry.kind === "message") for (const id of parseNoticeIds(entry.message.meta)) told.add(id);
        const notice = this.#findNotice(entry);
        if (notice) found.push(notice);
        this.#position = entry.seq;
      }
      if (entries.length < PAGE) return found.filter(({ id }) => !told.has(id));
    }
  }

  /** Resolves when another notice arrives or the signal fires. */
  async wait(signal: AbortSignal): Promise<void> {
    const entries = this.#session.tail({ after: this.#position, kinds: ["task"], signal });
    for await (const entry of entries) if (this.#findNotice(entry)) return;
  }

  /** Ignores a task that worked in this same session, because its messages are already here. */
  #findNotice(entry: Entry): TaskNotice | undefined {
    if (entry.kind !== "task" || entry.note.type !== "notice") return undefined;
    return entry.note.notice.session === this.#session.id ? undefined : entry.note.notice;
  }
}

function parseCheckpoint(entry: Entry): number | undefined {
  if (entry.kind !== "task" || entry.note.type !== "checkpoint") return undefined;
  const { value } = entry.note;
  const at =
    typeof value === "object" && value !== null && "noticesTo" in value ? value.noticesTo : undefined;
  return typeof at === "number" ? at : undefined;
}
