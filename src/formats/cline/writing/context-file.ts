import type { Entry, Json, Part } from "../../../index.ts";
import type { OverlayBody } from "../../../log-entry.ts";
import { toArray, toObject } from "../../../wire/fields.ts";
import type { ExportedSession } from "../../port/writer.ts";
import { overlaysOf } from "../../writing/overlays.ts";
import { EDIT_TYPES } from "../context-edits.ts";
import { readTaskFileEntries } from "./task-file-entries.ts";

/** A replacement text with its place, kind and time. */
interface ContextUpdate {
  readonly message: number;
  readonly block: number;
  readonly type: number;
  readonly at: number;
  readonly text: string;
}

/**
 * Builds Cline's list of window edits. The list can only represent a text that replaces one block; only these texts are
 * held in memory.
 */
export async function buildContextHistory(session: ExportedSession): Promise<Json | undefined> {
  const overlays = (await overlaysOf(session)).filter(({ edit }) => edit.type === "replace");
  if (overlays.length === 0) return undefined;
  const { places, metadata } = await findPlaces(session, overlays);
  const updates: ContextUpdate[] = [];
  for (const overlay of overlays) {
    const place = places.get(overlay.seq);
    const text = await readReplacementText(overlay, session);
    if (place && text !== undefined)
      updates.push({ ...place, type: toEditType(overlay.reason), at: overlay.madeAt ?? overlay.at, text });
  }
  const messages = Map.groupBy(updates, ({ message }) => message);
  return [...messages].sort(compareNumbers).map(([message, ofMessage]) => {
    const blocks = [...Map.groupBy(ofMessage, ({ block }) => block)].sort(compareNumbers);
    return [
      message,
      [
        ofMessage[0]?.type ?? 0,
        blocks.map(([block, ofBlock]) => [
          block,
          ofBlock.map(({ at, text }) => [
            at,
            "text",
            [text],
            metadata.get(`${message}.${block}.${at}`) ?? [],
          ]),
        ]),
      ],
    ];
  });
}

interface EditPlaces {
  /** Message and block that an overlay replaces, by its seq. */
  readonly places: ReadonlyMap<number, { readonly message: number; readonly block: number }>;
  /** Metadata that Cline stored with its own edits. */
  readonly metadata: ReadonlyMap<string, Json>;
}

async function findPlaces(
  session: ExportedSession,
  overlays: readonly Entry<OverlayBody>[],
): Promise<EditPlaces> {
  const places = new Map<number, { message: number; block: number }>();
  const metadata = new Map<string, Json>();
  let message = 0;
  for await (const item of readTaskFileEntries(session, "cline")) {
    if (item.type === "sent") {
      for (const { seq, edit } of overlays) {
        const block = edit.type === "replace" ? findBlock(item.entry, edit.target) : undefined;
        if (block !== undefined) places.set(seq, { message, block });
      }
    } else if (item.entry.kind === "raw" && item.entry.format === "cline") {
      const value = toObject(await session.raw(item.entry));
      const noted = toArray(value?.context);
      if (value?.metadata !== undefined && noted.length === 3)
        metadata.set(noted.join("."), value.metadata as Json);
    }
    if (item.type === "sent" || item.type === "element") message++;
  }
  return { places, metadata };
}

type ReplaceTarget = Extract<OverlayBody["edit"], { type: "replace" }>["target"];

function findBlock(
  { seq, message }: Extract<Entry, { kind: "message" }>,
  target: ReplaceTarget,
): number | undefined {
  if ("seq" in target) {
    if (target.seq !== seq) return undefined;
    return target.part ?? (message.parts.length === 1 ? 0 : undefined);
  }
  const block = message.parts.findIndex(
    (part) => part.type === "tool-result" && part.callId === target.callId,
  );
  return block < 0 ? undefined : block;
}

/** Returns the replacement text; undefined if it is not a single text. */
async function readReplacementText(
  { edit }: Entry<OverlayBody>,
  session: ExportedSession,
): Promise<string | undefined> {
  if (edit.type !== "replace" || edit.parts.length !== 1) return undefined;
  const part = await session.restore(edit.parts[0] as Part);
  if (part.type === "text") return part.text;
  if (part.type !== "tool-result") return undefined;
  const texts: string[] = [];
  for (const piece of part.output) {
    const restored = await session.restore(piece);
    if (restored.type !== "text") return undefined;
    texts.push(restored.text);
  }
  return texts.join("\n");
}

function toEditType(reason: string): number {
  const known = EDIT_TYPES.indexOf(reason);
  return known >= 0 ? known : Number(/^edit type (\d+)$/.exec(reason)?.[1] ?? 0);
}

function compareNumbers([a]: readonly [number, unknown], [b]: readonly [number, unknown]): number {
  return a - b;
}
