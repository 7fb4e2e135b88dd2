import type { Entry, MessageBody, Part } from "../../../index.ts";
import type { OverlayBody, SeqRange } from "../../../log-entry.ts";
import { encodeAnthropicBlocks } from "../../../wire/anthropic/anthropic-block-encode.ts";
import { toObject, toText } from "../../../wire/fields.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { isIn, overlaysOf } from "../../writing/overlays.ts";

/** A window edit as tags: messages in the ranges carry the id of their summary or marker. */
interface Tag {
  readonly type: "condense" | "truncation";
  readonly id: string;
  readonly ranges: readonly SeqRange[];
  /** Seq of the summary or marker on the line. */
  readonly standing?: number;
  /** Element to insert after the messages if the line has no summary or marker. */
  readonly element?: JsonObject;
  hasBegun: boolean;
}

/** Represents window edits as Roo's tags. */
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
      const tag = await buildTag(overlay, session);
      if (tag) tags.push(tag);
    }
    return new TagPlan(tags);
  }

  /** Returns the elements to insert before this message: summaries and markers of finished ranges. */
  takeElementsBefore(entry: Entry | undefined): readonly JsonObject[] {
    const ready = this.#waiting.filter(({ hasBegun, ranges }) => hasBegun && !(entry && isIn(entry, ranges)));
    this.#waiting = this.#waiting.filter((tag) => !ready.includes(tag));
    return ready.flatMap(({ element }) => (element ? [element] : []));
  }

  /** Returns the tags of a message. Roo never tags a message twice, so the oldest edit counts. */
  getTags(entry: Entry<MessageBody>): JsonObject {
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

async function buildTag(overlay: Entry<OverlayBody>, session: ExportedSession): Promise<Tag | undefined> {
  const { edit, author, reason, seq } = overlay;
  if (edit.type !== "hide" && edit.type !== "summarize") return undefined;
  const { ranges } = edit;
  const type = edit.type === "hide" ? "truncation" : "condense";
  const own = author === "roo" ? /^(?:condense|truncation):(.+)$/s.exec(reason)?.[1] : undefined;
  const base = { type, id: own ?? `longhaul-${seq}`, ranges, hasBegun: false } as const;
  // Roo's own marker is a message on the line that already carries its id.
  if (own !== undefined && type === "truncation") return base;
  if (edit.type === "summarize" && edit.entry !== undefined) {
    const isNamed = own === undefined || (await findCondenseId(session, edit.entry)) === own;
    // Old summaries have no id and no tags; `isSummary` suffices.
    return isNamed ? { ...base, standing: edit.entry } : undefined;
  }
  const ts = overlay.madeAt ?? overlay.at;
  if (edit.type === "hide") {
    const content = "[Sliding window truncation: messages hidden to reduce context]";
    const marker = { role: "user", content, ts, isTruncationMarker: true, truncationId: base.id };
    return { ...base, element: marker };
  }
  const parts = edit.messages?.flatMap((message): readonly Part[] => message.parts) ?? [];
  const content = await encodeAnthropicBlocks(parts, session);
  return { ...base, element: { role: "user", content, ts, isSummary: true, condenseId: base.id } };
}

async function findCondenseId(session: ExportedSession, seq: number): Promise<string | undefined> {
  for await (const entry of session.entries("line"))
    if (entry.seq === seq && entry.kind === "message")
      return toText(toObject(entry.message.meta?.roo)?.condenseId);
  return undefined;
}
