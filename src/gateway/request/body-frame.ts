import type { BodyFacts, RequestFields } from "./body-memo.ts";
import type { ByteRange } from "./byte-range.ts";

/** Everything of a body except its list. An agent repeats it with every request, often in all of its conversations. */
export interface BodyFrame {
  /** The bytes before the list. */
  readonly before: Buffer;
  /** The bytes after the list. */
  readonly after: Buffer;
  /** Top-level values before the list. */
  readonly fieldsBefore: readonly (readonly [name: string, range: ByteRange])[];
  /** Top-level values after the list, counted from its end. */
  readonly fieldsAfter: readonly (readonly [name: string, range: ByteRange])[];
  /** Results that depend on nothing but the frame. */
  readonly memo: FrameMemo;
}

interface FrameMemo {
  fields?: RequestFields;
  /** All models that its fields name. */
  namedModels?: readonly string[];
  /** Facts of the agent, and the bytes of the instruction elements that they were read with. */
  facts?: { readonly lead: Buffer; readonly facts: BodyFacts };
}

/** A body with the positions of its fields and of its list. */
interface FramedBody {
  readonly bytes: Buffer;
  readonly fields: ReadonlyMap<string, ByteRange>;
  readonly listFrom: number | undefined;
}

/** The frame of a body, with its own copy of the bytes; undefined if the body has no list. */
export function copyFrame({ bytes, fields, listFrom }: FramedBody, list: string): BodyFrame | undefined {
  const end = fields.get(list)?.to;
  if (listFrom === undefined || end === undefined) return undefined;
  const fieldsBefore: [string, ByteRange][] = [];
  const fieldsAfter: [string, ByteRange][] = [];
  for (const [name, { from, to }] of fields) {
    if (to <= listFrom) fieldsBefore.push([name, { from, to }]);
    else if (from >= end) fieldsAfter.push([name, { from: from - end, to: to - end }]);
  }
  return {
    before: copyBytes(bytes.subarray(0, listFrom)),
    after: copyBytes(bytes.subarray(end)),
    fieldsBefore,
    fieldsAfter,
    memo: {},
  };
}

/** True if a body begins with the bytes of a frame, so that its list and the fields before it are at the same places. */
export function beginsLike(bytes: Buffer, { before }: BodyFrame): boolean {
  return bytes.length > before.length && bytes.compare(before, 0, before.length, 0, before.length) === 0;
}

/** True if the rest of a body from `listEnd` on is that of a frame. */
export function endsLike(bytes: Buffer, listEnd: number, { after }: BodyFrame): boolean {
  const hasLength = listEnd >= 0 && bytes.length - listEnd === after.length;
  return hasLength && bytes.compare(after, 0, after.length, listEnd) === 0;
}

/** A copy that does not keep any other bytes in memory. */
export function copyBytes(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
