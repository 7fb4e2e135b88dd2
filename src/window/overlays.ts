import type { Lines } from "../log/lines.ts";
import type { Log } from "../log/log.ts";
import { type BodyInput, prepareBody } from "../log/prepare-body.ts";
import { checkFields, checkKind } from "../model/argument-checks.ts";
import { type Entry, formatEntryId, type OverlayBody, type SessionId } from "../model/entry.ts";
import { checkWholeNumber, createArgumentError, LonghaulError } from "../model/errors.ts";
import { closeLine } from "../model/line.ts";
import type { MessageInput } from "../model/message.ts";
import type { EditInput, RevertEdit, SingleEdit } from "../model/overlay.ts";
import type { PartInput } from "../model/part.ts";
import { findActiveOverlays, findHeldEntries, readMarks } from "./session/find-active-overlays.ts";
import { LinePlaces } from "./session/line-places.ts";
import { isPageOverlay } from "./session/load-window.ts";

/** Overlays that are searched for the last edit. */
const MAX_SEARCHED = 1_000;

/** An overlay on the active line, and whether it is in effect. */
export interface ListedOverlay {
  readonly entry: Entry<OverlayBody>;
  /** For a revert: whether the revert itself is in effect. */
  readonly isHolding: boolean;
  /** Indexes of the edits of a plan that are in effect. */
  readonly holdingEdits: readonly number[];
}

/**
 * The overlays of a session: stored edits that make its windows differ from its log. Each overlay is an entry and can
 * be reverted.
 */
export class Overlays {
  readonly #log: Log;
  readonly #lines: Lines;
  readonly #session: SessionId;

  constructor(log: Log, lines: Lines, session: SessionId) {
    this.#log = log;
    this.#lines = lines;
    this.#session = session;
  }

  /** The overlays of the active line, newest first. */
  async list(limit = 50): Promise<readonly ListedOverlay[]> {
    checkWholeNumber("limit", limit, 1);
    const { places, line } = await this.#line();
    const { entries } = this.#log.store;
    const { overlays: holding } = await findActiveOverlays(entries, line, places);
    const active = new Map(holding.map((one) => [one.entry.id, one]));
    // A revert that is older than the plan in effect is still in effect if the plan holds its entries.
    const held = await findHeldEntries(entries, holding, line);
    const heldBy = new Set(held.map(({ revert }) => formatEntryId(revert.session, revert.seq)));
    const listed: ListedOverlay[] = [];
    for await (const entry of readMarks(entries, line, "overlay")) {
      if (listed.length === limit) break;
      // The edits in effect are parts of the entry that was read for them.
      const { entry: own = entry as Entry<OverlayBody>, edits } = active.get(entry.id) ?? {};
      listed.push(toListedOverlay(own, edits ?? (heldBy.has(entry.id) ? [] : undefined)));
    }
    return listed;
  }

  /**
   * The edit that a person means who wants to undo the last one: the newest in force that took something out of the
   * window, not a page that came after it; or else the newest of any kind.
   */
  async findLastEdit(): Promise<ListedOverlay | undefined> {
    const listed = await this.list(MAX_SEARCHED);
    const holding = listed.filter(({ isHolding, entry }) => isHolding && entry.edit.type !== "revert");
    return holding.find(({ entry }) => isRemoval(entry)) ?? holding[0];
  }

  /** Adds a manual edit to the window; policies cannot undo it, and it stays in effect until it is reverted. */
  async add(edit: EditInput, reason: string, author = "user"): Promise<Entry<OverlayBody>> {
    checkKind("edit", edit, "object");
    checkKind("reason", reason, "text");
    checkKind("author", author, "text");
    const { seq: head } = await this.#log.store.entries.head(this.#session);
    checkEdit(edit, { session: this.#session, head });
    return this.#append({ kind: "overlay", author, reason, edit: { ...edit, isLasting: true } });
  }

  /** Reverts an overlay, or a single edit of a plan; the window is then built without it. */
  async revert(
    overlay: number,
    options: { readonly edit?: number; readonly session?: SessionId } = {},
  ): Promise<Entry<OverlayBody>> {
    checkFields("options", options, { session: "text?" });
    const target = await this.#find(checkWholeNumber("overlay", overlay, 1), options.session);
    const { edit } = options;
    const { edit: reverted } = target;
    if (edit !== undefined && !(reverted.type === "plan" && reverted.edits[edit]))
      throw createArgumentError("edit", edit, "the number of an edit of that plan, from 0 on");
    return this.#revert(target, edit === undefined ? {} : { edit });
  }

  /** Reverts all overlays added after `at`; returns undefined if there are none. */
  async revertTo(at: number | Date): Promise<Entry<OverlayBody> | undefined> {
    const time = at instanceof Date ? at.getTime() : at;
    if (!Number.isFinite(time)) throw createArgumentError("at", at, "a time");
    const { line } = await this.#line();
    let oldest: Entry<OverlayBody> | undefined;
    for await (const entry of readMarks(this.#log.store.entries, line, "overlay")) {
      if (entry.at <= time) break;
      oldest = entry as Entry<OverlayBody>;
    }
    return oldest && this.#revert(oldest, { since: true });
  }

  async #line() {
    const { seq: head } = await this.#log.store.entries.head(this.#session);
    const { line } = await this.#lines.active();
    return { line: closeLine(line, head), places: new LinePlaces(line) };
  }

  async #find(seq: number, session = this.#session): Promise<Entry<OverlayBody>> {
    const { line } = await this.#line();
    for await (const entry of readMarks(this.#log.store.entries, line, "overlay"))
      if (entry.seq === seq && entry.session === session) return entry as Entry<OverlayBody>;
    throw new LonghaulError(
      "ENTRY_NOT_FOUND",
      `There is no overlay ${session}#${seq} on the line of this session; session.overlays.list() names them.`,
      { details: { session, seq } },
    );
  }

  #revert(
    { session, seq }: Entry<OverlayBody>,
    how: Pick<RevertEdit, "edit" | "since">,
  ): Promise<Entry<OverlayBody>> {
    const own = session === this.#session ? {} : { session };
    const edit: RevertEdit = { type: "revert", overlay: seq, ...own, ...how };
    return this.#append({ kind: "overlay", author: "user", reason: "taken back", edit });
  }

  async #append(body: Extract<BodyInput, { kind: "overlay" }>): Promise<Entry<OverlayBody>> {
    const ready = await prepareBody(this.#log, body);
    return (await this.#log.appendOne(this.#session, ready)) as Entry<OverlayBody>;
  }
}

function isRemoval({ edit, reason }: Entry<OverlayBody>): boolean {
  if (isPageOverlay({ edit, reason })) return false;
  return edit.type !== "plan" || edit.isWhole === true || edit.edits.some(({ type }) => type !== "replace");
}

function toListedOverlay(
  entry: Entry<OverlayBody>,
  holding: readonly SingleEdit[] | undefined,
): ListedOverlay {
  const { edit } = entry;
  const all = edit.type === "plan" ? edit.edits : [];
  const holdingEdits = all.flatMap((one, index) => (holding?.includes(one) ? [index] : []));
  return { entry, isHolding: holding !== undefined, holdingEdits };
}

/** Throws ARGUMENT_INVALID for a manual edit that is malformed or refers to entries that do not exist yet. */
function checkEdit(
  edit: EditInput,
  own: { readonly session: string; readonly head: number },
): asserts edit is SingleEdit<MessageInput, PartInput> {
  if (edit?.type !== "replace" && edit?.type !== "hide" && edit?.type !== "summarize")
    throw createArgumentError("edit.type", edit?.type, "replace, hide or summarize");
  if (edit.type === "replace") {
    if (!Array.isArray(edit.parts)) throw createArgumentError("edit.parts", edit.parts, "an array of parts");
    const { target } = edit;
    if ("callId" in target ? typeof target.callId === "string" : isSeq(target.seq)) return;
    throw createArgumentError("edit.target", target, "a seq, or the callId of a tool's result");
  }
  if (!Array.isArray(edit.ranges) || edit.ranges.length === 0)
    throw createArgumentError("edit.ranges", edit.ranges, "at least one range of entries");
  for (const { session, from, to } of edit.ranges) {
    const isSaid = session !== own.session || to <= own.head;
    if (typeof session === "string" && isSeq(from) && Number.isSafeInteger(to) && isSaid) continue;
    throw createArgumentError(
      "edit.ranges",
      `${session}#${from} to #${to}`,
      `ranges of entries that exist; the last is #${own.head}`,
    );
  }
}

function isSeq(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
