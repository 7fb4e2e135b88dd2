import type { JsonObject } from "../api/api.ts";
import { type Block, blocksOf, isEmptyText, isObject } from "./blocks.ts";

/** Most cache markers that a request may have: system, tools and messages together. */
export const MOST_MARKERS = 4;

/** A cache marker of an element: on which of its blocks, and what it says. */
export interface Marker {
  readonly element: number;
  readonly block: number;
  readonly value: JsonObject;
}

/** An element that goes out, as it would be written but for markers. */
export interface Survivor {
  readonly element: JsonObject;
  /** Which of the client's elements it is; undefined for one that the client did not send. */
  readonly index?: number;
  readonly isEdited: boolean;
}

/** The markers of elements in their order. One inside a tool's result counts as one on the result. */
export function markersIn(elements: readonly JsonObject[]): readonly Marker[] {
  return elements.flatMap((content, element) =>
    blocksOf(content).flatMap((own, block) => {
      const inner = Array.isArray(own.content) ? own.content.filter(isObject) : [];
      return [own, ...inner].flatMap((one): readonly Marker[] => {
        const value = markerOn(one);
        return value ? [{ element, block, value }] : [];
      });
    }),
  );
}

/**
 * The markers that edited elements are to have, and those that others get besides their own. A marker whose element was
 * edited or has left moves to the last block before it that can carry one; where that has one already, it is left out. Their
 * order stays, and with it that of their times to live. Never more than there were, nor than `most`; the latest
 * message of the assistant gets none.
 */
export function placeMarkers(
  before: readonly JsonObject[],
  survivors: readonly Survivor[],
  most: number = MOST_MARKERS,
): readonly Marker[] {
  const placeOf = new Map<number, number>();
  for (const [place, { index }] of survivors.entries()) if (index !== undefined) placeOf.set(index, place);
  const latest = survivors.findLastIndex(({ element }) => element.role === "assistant");
  const taken = new Set<string>();
  const staying: Marker[] = [];
  const moving: Marker[] = [];
  for (const marker of markersIn(before)) {
    const place = placeOf.get(marker.element);
    const isLeftAlone = place !== undefined && survivors[place]?.isEdited === false;
    if (!isLeftAlone) moving.push(marker);
    else {
      staying.push(marker);
      taken.add(`${place} ${marker.block}`);
    }
  }
  const room = Math.max(0, most - staying.length);
  const moved: Marker[] = [];
  for (const { element, block, value } of moving) {
    const own = placeOf.get(element);
    const from = own ?? survivors.findLastIndex(({ index = -1 }) => index >= 0 && index < element);
    // Notes that stand for what has left come before the marker too.
    const last = own ?? lastBefore(survivors, from, element);
    const lastBlock = own === undefined ? Number.POSITIVE_INFINITY : block;
    const spot = spotAtOrBefore(survivors, { element: last, block: lastBlock }, latest, taken);
    if (!spot) continue;
    taken.add(`${spot.element} ${spot.block}`);
    moved.push({ ...spot, value });
  }
  return moved.slice(Math.max(0, moved.length - room));
}

/**
 * The same survivors with their markers in place. One that was left alone and gets a marker of another counts as edited
 * from then on; all others that were left alone are the very same objects.
 */
export function withMovedMarkers(
  before: readonly JsonObject[],
  survivors: readonly Survivor[],
  most: number = MOST_MARKERS,
): readonly Survivor[] {
  const byPlace = Map.groupBy(placeMarkers(before, survivors, most), ({ element }) => element);
  return survivors.map((survivor, place) => {
    const markers = byPlace.get(place) ?? [];
    const isOwn = survivor.index !== undefined && !survivor.isEdited;
    if (isOwn && markers.length === 0) return survivor;
    const all = isOwn ? [...markersIn([survivor.element]), ...markers] : markers;
    return { ...survivor, element: withMarkers(survivor.element, all), isEdited: true };
  });
}

/** The element with these markers and no other; a text alone becomes a block where it gets one. */
export function withMarkers(element: JsonObject, markers: readonly Omit<Marker, "element">[]): JsonObject {
  if (markers.length === 0 && markersIn([element]).length === 0) return element;
  const valueAt = new Map(markers.map(({ block, value }) => [block, value]));
  const blocks = blocksOf(element).map((own, index) => {
    const value = valueAt.get(index);
    const bare = withoutMarker(own);
    return value ? { ...bare, cache_control: value } : bare;
  });
  return { ...element, content: blocks };
}

/** Place of the last survivor that stands before where the client's element was. */
function lastBefore(survivors: readonly Survivor[], from: number, element: number): number {
  let last = from;
  for (let place = from + 1; place < survivors.length; place++) {
    const { index } = survivors[place] as Survivor;
    if (index !== undefined && index > element) break;
    last = place;
  }
  return last;
}

interface Spot {
  readonly element: number;
  readonly block: number;
}

/** Never past a marker that is there: it holds all that is before it anyway, and markers would change places. */
function spotAtOrBefore(
  survivors: readonly Survivor[],
  last: Spot,
  latest: number,
  taken: ReadonlySet<string>,
): Spot | undefined {
  for (let element = last.element; element >= 0; element--) {
    const { element: own } = survivors[element] as Survivor;
    const blocks = blocksOf(own);
    const from = element === last.element ? Math.min(blocks.length - 1, last.block) : blocks.length - 1;
    for (let block = from; block >= 0; block--) {
      if (taken.has(`${element} ${block}`)) return undefined;
      if (element !== latest && canCarry(own, blocks[block] as Block)) return { element, block };
    }
  }
  return undefined;
}

const CARRYING = ["text", "image", "document", "search_result", "tool_use", "tool_result"];

function canCarry({ role, content }: JsonObject, block: Block): boolean {
  // Results of OpenAI's chat have to stay plain text for some providers.
  if (role === "tool" && typeof content === "string") return false;
  return CARRYING.includes(String(block.type)) && !isEmptyText(block);
}

function markerOn({ cache_control }: Block): JsonObject | undefined {
  return isObject(cache_control) ? cache_control : undefined;
}

function withoutMarker(block: Block): Block {
  const { cache_control: _, ...bare } = block;
  const own = "cache_control" in block ? bare : block;
  if (!Array.isArray(own.content) || !own.content.some((one) => isObject(one) && "cache_control" in one))
    return own;
  const content = own.content.map((one) => (isObject(one) ? withoutMarker(one) : one));
  return { ...own, content };
}
