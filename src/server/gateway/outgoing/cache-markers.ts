import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { type ContentBlock, getContentBlocks, isEmptyText, isObject } from "../../../wire/content-blocks.ts";
import type { WireObject } from "../../../wire/wire.ts";
import { type ByteRange, type CutBody, type OutgoingPiece, parseRange } from "../request/cut-body.ts";
import { parseElement } from "../request/request-messages.ts";

/** Maximum number of cache markers in a request: system, tools and messages together. */
export const MAX_MARKERS = 4;

/** A cache marker: the element and block that carry it, and its value. */
interface CacheMarker {
  readonly element: number;
  readonly block: number;
  readonly value: WireObject;
}

/** An element to be sent, in its final form except for markers. */
export interface SentElement {
  readonly element: WireObject;
  /** Index of the client's element; undefined for an element that the client did not send. */
  readonly index?: number;
  readonly isEdited: boolean;
}

/** The markers of elements in order. A marker inside a tool result counts as one on the result. */
export function findMarkers(elements: readonly WireObject[]): readonly CacheMarker[] {
  return elements.flatMap((content, element) =>
    getContentBlocks(content).flatMap((own, block) => {
      const inner = Array.isArray(own.content) ? own.content.filter(isObject) : [];
      return [own, ...inner].flatMap((one): readonly CacheMarker[] => {
        const value = getMarker(one);
        return value ? [{ element, block, value }] : [];
      });
    }),
  );
}

/**
 * The markers for edited elements, and additional ones for unedited elements. A marker whose element was edited or
 * removed moves to the last block before it that can carry one; if that block already has a marker, the moved one is
 * dropped. The order of markers, and of their times to live, is preserved. There are never more markers than before or
 * than `most`, and the latest assistant message gets none.
 */
export function placeMarkers(
  before: readonly WireObject[],
  survivors: readonly SentElement[],
  most: number = MAX_MARKERS,
): readonly CacheMarker[] {
  const placeOf = new Map<number, number>();
  for (const [place, { index }] of survivors.entries()) if (index !== undefined) placeOf.set(index, place);
  const latest = survivors.findLastIndex(({ element }) => element.role === "assistant");
  const taken = new Set<string>();
  const staying: CacheMarker[] = [];
  const moving: CacheMarker[] = [];
  for (const marker of findMarkers(before)) {
    const place = placeOf.get(marker.element);
    const isLeftAlone = place !== undefined && survivors[place]?.isEdited === false;
    if (!isLeftAlone) moving.push(marker);
    else {
      staying.push(marker);
      taken.add(`${place} ${marker.block}`);
    }
  }
  const limits = Math.max(0, most - staying.length);
  const moved: CacheMarker[] = [];
  for (const { element, block, value } of moving) {
    const own = placeOf.get(element);
    const from = own ?? survivors.findLastIndex(({ index = -1 }) => index >= 0 && index < element);
    // Notes that replace removed elements also come before the marker.
    const last = own ?? findLastBefore(survivors, from, element);
    const lastBlock = own === undefined ? Number.POSITIVE_INFINITY : block;
    const spot = findSpot(survivors, { element: last, block: lastBlock }, latest, taken);
    if (!spot) continue;
    taken.add(`${spot.element} ${spot.block}`);
    moved.push({ ...spot, value });
  }
  return moved.slice(Math.max(0, moved.length - limits));
}

/**
 * The survivors with their markers in place. An unedited survivor that gets another marker counts as edited; all other
 * unedited ones stay the same objects.
 */
export function moveMarkers(
  before: readonly WireObject[],
  survivors: readonly SentElement[],
  most: number = MAX_MARKERS,
): readonly SentElement[] {
  const byPlace = Map.groupBy(placeMarkers(before, survivors, most), ({ element }) => element);
  return survivors.map((survivor, place) => {
    const markers = byPlace.get(place) ?? [];
    const isOwn = survivor.index !== undefined && !survivor.isEdited;
    if (isOwn && markers.length === 0) return survivor;
    const all = isOwn ? [...findMarkers([survivor.element]), ...markers] : markers;
    return { ...survivor, element: setMarkers(survivor.element, all), isEdited: true };
  });
}

/** The element with exactly these markers; plain text becomes a block if it gets one. */
function setMarkers(element: WireObject, markers: readonly Omit<CacheMarker, "element">[]): WireObject {
  if (markers.length === 0 && findMarkers([element]).length === 0) return element;
  const valueAt = new Map(markers.map(({ block, value }) => [block, value]));
  const blocks = getContentBlocks(element).map((own, index) => {
    const value = valueAt.get(index);
    const bare = removeMarkers(own);
    return value ? { ...bare, cache_control: value } : bare;
  });
  return { ...element, content: blocks };
}

/** Index of the last survivor before the position of the client's element. */
function findLastBefore(survivors: readonly SentElement[], from: number, element: number): number {
  let last = from;
  for (let place = from + 1; place < survivors.length; place++) {
    const { index } = survivors[place] as SentElement;
    if (index !== undefined && index > element) break;
    last = place;
  }
  return last;
}

interface MarkerSpot {
  readonly element: number;
  readonly block: number;
}

/** Never moves past an existing marker, which already covers everything before it; markers would change their order. */
function findSpot(
  survivors: readonly SentElement[],
  last: MarkerSpot,
  latest: number,
  taken: ReadonlySet<string>,
): MarkerSpot | undefined {
  for (let element = last.element; element >= 0; element--) {
    const { element: own } = survivors[element] as SentElement;
    const blocks = getContentBlocks(own);
    const from = element === last.element ? Math.min(blocks.length - 1, last.block) : blocks.length - 1;
    for (let block = from; block >= 0; block--) {
      if (taken.has(`${element} ${block}`)) return undefined;
      if (element !== latest && canCarry(own, blocks[block] as ContentBlock)) return { element, block };
    }
  }
  return undefined;
}

const CARRYING_TYPES = ["text", "image", "document", "search_result", "tool_use", "tool_result"];

function canCarry({ role, content }: WireObject, block: ContentBlock): boolean {
  // Some providers accept tool results of OpenAI's chat format only as plain text.
  if (role === "tool" && typeof content === "string") return false;
  return CARRYING_TYPES.includes(String(block.type)) && !isEmptyText(block);
}

function getMarker({ cache_control }: ContentBlock): WireObject | undefined {
  return isObject(cache_control) ? cache_control : undefined;
}

function removeMarkers(block: ContentBlock): ContentBlock {
  const { cache_control: _, ...bare } = block;
  const own = "cache_control" in block ? bare : block;
  if (!Array.isArray(own.content) || !own.content.some((one) => isObject(one) && "cache_control" in one))
    return own;
  const content = own.content.map((one) => (isObject(one) ? removeMarkers(one) : one));
  return { ...own, content };
}

const MARK = Buffer.from('"cache_control"');

/** Number of cache markers outside the messages: those of system and tools, and one for the whole request. */
export function countLeadMarkers({ bytes, fields }: CutBody): number {
  // A marker for the whole request counts as one, wherever the provider applies it.
  const whole = fields.get("cache_control");
  const isMarked = whole !== undefined && isObject(parseRange(bytes, whole));
  return (
    countListMarkers(bytes, fields.get("system")) +
    countListMarkers(bytes, fields.get("tools")) +
    (isMarked ? 1 : 0)
  );
}

/** Counts only markers on the list's own objects; a tool's schema may have a property of the same name. */
function countListMarkers(bytes: Buffer, range: ByteRange | undefined): number {
  if (!range || !bytes.subarray(range.from, range.to).includes(MARK)) return 0;
  const list = parseRange(bytes, range);
  if (!Array.isArray(list)) return 0;
  return list.filter((one) => isObject(one) && isObject(one.cache_control)).length;
}

const CACHE_MARK = Buffer.from('"cache_control"');
const BACKSLASH = 0x5c;

/**
 * Moves the cache markers of edited or removed elements to elements before them. Elements are parsed only if a marker
 * was lost; clients mark their latest messages, which usually stay.
 */
export function moveLostMarkers(cut: CutBody, pieces: readonly OutgoingPiece[]): readonly OutgoingPiece[] {
  const { elements } = cut;
  const [only] = pieces;
  if (only && "from" in only && only.from === 0 && only.to === elements.length) return pieces;
  const marked = findMarkedElements(cut);
  const lost = marked.filter(
    (index) => !pieces.some((piece) => "from" in piece && piece.from <= index && index < piece.to),
  );
  // A shortened result is edited in its place and keeps its markers.
  if (lost.every((index) => hasOwnMarkers(cut, pieces, index))) return pieces;
  const most = Math.max(0, MAX_MARKERS - countLeadMarkers(cut));
  const before = elements.map((_, index) => parseElement(cut, index));
  return toPieces(moveMarkers(before, listSentElements(before, pieces), most));
}

/** True if an edited element has the markers of the client's element at its place. */
function hasOwnMarkers(cut: CutBody, pieces: readonly OutgoingPiece[], index: number): boolean {
  for (const piece of pieces) {
    if ("from" in piece || piece.index === undefined) continue;
    const element = piece.elements[index - piece.index];
    if (!element) continue;
    const own = JSON.stringify(findMarkers([element]));
    return element.role !== "assistant" && own === JSON.stringify(findMarkers([parseElement(cut, index)]));
  }
  return false;
}

/** Indexes of the elements with a marker; elements that an earlier body has as well are not searched again. */
function findMarkedElements({ bytes, elements, like, same, memo }: CutBody): readonly number[] {
  if (memo.markedElements) return memo.markedElements;
  const earlier = like?.memo.markedElements;
  const marked = new Set(earlier?.filter((index) => index < same));
  let index = earlier ? same : 0;
  const first = elements[index];
  const last = elements.at(-1);
  if (first && last)
    for (const at of findMarks(bytes, { from: first.from, to: last.to })) {
      while (index < elements.length - 1 && (elements[index] as ByteRange).to <= at) index++;
      marked.add(index);
    }
  memo.markedElements = [...marked];
  return memo.markedElements;
}

/** Positions of markers; in text that merely mentions a marker, the quotes are escaped. */
function findMarks(bytes: Buffer, range: ByteRange): readonly number[] {
  const found: number[] = [];
  for (
    let at = bytes.indexOf(CACHE_MARK, range.from);
    at >= 0 && at < range.to;
    at = bytes.indexOf(CACHE_MARK, at + 1)
  )
    if (bytes[at - 1] !== BACKSLASH) found.push(at);
  return found;
}

/** The outgoing elements, one by one. */
function listSentElements(
  before: readonly WireObject[],
  pieces: readonly OutgoingPiece[],
): readonly SentElement[] {
  return pieces.flatMap((piece): readonly SentElement[] => {
    if ("from" in piece)
      return before
        .slice(piece.from, piece.to)
        .map((element, at) => ({ element, index: piece.from + at, isEdited: false }));
    const { index } = piece;
    return piece.elements.map((element, at) => ({
      element,
      isEdited: true,
      ...(index !== undefined && { index: index + at }),
    }));
  });
}

function toPieces(survivors: readonly SentElement[]): readonly OutgoingPiece[] {
  const pieces: OutgoingPiece[] = [];
  for (const { element, index, isEdited } of survivors) {
    const last = pieces.at(-1);
    if (isEdited || index === undefined) pieces.push({ elements: [element], ...dropUndefined({ index }) });
    else if (last && "from" in last && last.to === index)
      pieces[pieces.length - 1] = { from: last.from, to: index + 1 };
    else pieces.push({ from: index, to: index + 1 });
  }
  return pieces;
}
