import type { Entry, MessageBody, OverlayBody, Part, SeqRange } from "../../../index.ts";
import { objectOf, textOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { blocksOfParts } from "../anthropic-blocks.ts";
import { isIn, overlaysOf } from "../cline/overlays.ts";
import type { ExportedSession } from "../writer.ts";

/** One edit of the window as tags: messages in the ranges carry the id of what stands for them. */
interface Tag {
  readonly type: "condense" | "truncation";
  readonly id: string;
  readonly ranges: readonly SeqRange[];
  /** Seq of the message on the line that stands for the others. */
  readonly standing?: number;
  /** The element that has to be put behind them, where none on the line stands for them. */
  readonly element?: JsonObject;
  hasBegun: boolean;
}

/** The tags that say in Roo's way what has left the window. */
export class TagPlan {
  readonly #tags: readonly Tag[];
  #waiting: Tag[];

  private constructor(tags: readonly Tag[]) {
    this.#tags = tags;
    this.#waiting = tags.filter(({ element }) => element);
  }

  static async of(session: ExportedSession): Promise<TagPlan> {
    const tags: Tag[] = [];
    for (const overlay of await overlaysOf(session)) {
      const tag = await tagOf(overlay, session);
      if (tag) tags.push(tag);
    }
    return new TagPlan(tags);
  }

  /** Elements that have to come before this message: what stands for messages that are over. */
  before(entry: Entry | undefined): readonly JsonObject[] {
    const ready = this.#waiting.filter(({ hasBegun, ranges }) => hasBegun && !(entry && isIn(entry, ranges)));
    this.#waiting = this.#waiting.filter((tag) => !ready.includes(tag));
    return ready.flatMap(({ element }) => (element ? [element] : []));
  }

  /** The tags of a message. Roo never tags one twice, so the oldest edit counts. */
  tagsOf(entry: Entry<MessageBody>): JsonObject {
    const standing = this.#tags.find((tag) => tag.standing === entry.seq && tag.type === "condense");
    const covering = this.#tags.filter((tag) => tag !== standing && isIn(entry, tag.ranges));
    for (const tag of covering) tag.hasBegun = true;
    const parent = (type: Tag["type"]) => covering.find((tag) => tag.type === type)?.id;
    const [condenseParent, truncationParent] = [parent("condense"), parent("truncation")];
    return {
      ...(standing && { isSummary: true, condenseId: standing.id }),
      ...(condenseParent !== undefined && { condenseParent }),
      ...(truncationParent !== undefined && { truncationParent }),
    };
  }
}

async function tagOf(overlay: Entry<OverlayBody>, session: ExportedSession): Promise<Tag | undefined> {
  const { edit, author, reason, seq } = overlay;
  if (edit.type !== "hide" && edit.type !== "summarize") return undefined;
  const { ranges } = edit;
  const type = edit.type === "hide" ? "truncation" : "condense";
  const own = author === "roo" ? /^(?:condense|truncation):(.+)$/s.exec(reason)?.[1] : undefined;
  const base = { type, id: own ?? `longhaul-${seq}`, ranges, hasBegun: false } as const;
  // Roo's own marker is a message on the line, which carries its id already.
  if (own !== undefined && type === "truncation") return base;
  if (edit.type === "summarize" && edit.entry !== undefined) {
    const isNamed = own === undefined || (await condenseIdAt(session, edit.entry)) === own;
    // Summaries of old have no id and no tags: that they are summaries says it.
    return isNamed ? { ...base, standing: edit.entry } : undefined;
  }
  const ts = overlay.madeAt ?? overlay.at;
  if (edit.type === "hide") {
    const content = "[Sliding window truncation: messages hidden to reduce context]";
    const marker = { role: "user", content, ts, isTruncationMarker: true, truncationId: base.id };
    return { ...base, element: marker };
  }
  const parts = edit.messages?.flatMap((message): readonly Part[] => message.parts) ?? [];
  const content = await blocksOfParts(parts, session);
  return { ...base, element: { role: "user", content, ts, isSummary: true, condenseId: base.id } };
}

async function condenseIdAt(session: ExportedSession, seq: number): Promise<string | undefined> {
  for await (const entry of session.entries("line"))
    if (entry.seq === seq && entry.kind === "message")
      return textOf(objectOf(entry.message.meta?.roo)?.condenseId);
  return undefined;
}
