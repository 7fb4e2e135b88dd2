import * as zlib from "node:zlib";
import { crc32 } from "node:zlib";
import type { EntryKind } from "../model/entry.ts";
import { LonghaulError } from "../model/errors.ts";
import { Lz4 } from "./lz4.ts";

/** Compression of a payload's text. Part of the file format; numbers are never reused. */
const RAW = 0;
const LZ4 = 1;
const ZSTD = 2;
const DEFLATE = 3;
const PACKINGS = 4;

/**
 * Added to the packing in the first byte of a payload with a checksum; older payloads have only the packing. Differs
 * in three bits, so that no single flipped bit turns a checked payload into an unchecked one.
 */
const CHECKED = 0b0111_0000;
/** First byte and checksum of a checked payload. */
const HEADER_BYTES = 5;

/** From this length on, zstd's better ratio outweighs the cost of calling it. */
const ZSTD_FROM_CHARACTERS = 8_192;
/** Below this size, a row is a fraction of a page either way. */
const MIN_PACKED_BYTES = 64;

const LZ4_SIZE_BYTES = 2;
const encoder = new TextEncoder();

/**
 * Dictionary that every small payload is compressed against: the keys of our own JSON, and words that are common in
 * agent conversations. A 2 KB message is too short to repeat itself much; the primer saves a tenth of its size
 * (docs/decisions/0004). Part of the file format: never edited; a second primer needs its own packing number.
 */

/** Words of code, tools, tool output and English; rarer words first, because distance does not affect the cost. */
const WORDS = [
  " should would could about there their other after before where because through between under while without against",
  " another every first value string number boolean undefined null true false object array function return const await",
  " async export import default interface extends implements readonly public private static class constructor throw new",
  " Error( catch finally switch case break continue typeof instanceof for (const of let if (else { => { }); });\n ());\n",
  " = {\n this. process.env. console.log( JSON.stringify( Promise< Object. Array. Buffer. .length .map(( .filter((",
  " .push( .toString() options context message messages session request response result results error errors warning",
  ' failed failure success passed expected received actual test tests describe( expect( toBe( toEqual( it(" file files',
  " folder path paths name names type types index config package.json node_modules/ src/ test/ dist/ docs/ README.md",
  " tsconfig.json https://www. https://github.com/ http://localhost: .com/ .org/ .html .json .yaml .test.ts .ts: .tsx",
  ' .js .mjs .py .md   "version": "  "description": "  "license": "MIT",  "dependencies": {  "name": "  "type": "',
  '  "id": "  "content": "  "status": "  "timestamp": "T00:00:00.000Z" -rw-r--r-- 1 root root drwxr-xr-x  total diff',
  " --git a/ b/ index  --- a/ +++ b/ @@ -  def  self. import os from typing import  return None  raise ValueError(",
  " #include < int main( void  static const char * fn pub struct impl let mut use std:: func (err error) if err != nil {",
  " return nil, err } package main SELECT  FROM  WHERE  INSERT INTO  CREATE TABLE  public class  System.out.println(",
  " the  and  that  this  with  from  have  will  your  when  then  than  they  what  which  these  those  some  more",
  "  only  also  into  just  like  make  need  used  using  user  been  being  each  here  does  done  such  same  must",
  "  very  both  over  even  most  many  much  time  work  code  line  lines  data  list  call  calls  run  running",
  "  command  output  input  change  changes  update  create  created  delete  remove  added  add  check  checks  read",
  "  write  written  open  close  start  stop  find  found  look  looking  see  set  get  got  now  next  last  current",
  "  currently  following  example  instead  however  because  available  different  directory  implementation",
  "  information  parameter  parameters  argument  arguments  property  properties  provided  specified  required",
  "  optional  support  supported  application  environment  development  performance  documentation  ing  tion  ation",
  "  ment  ally  able  ness  ence  ance  ould  ight  ound  ther  here  ever  ing the  of the  in the  to the  on the",
  "  for the  and the  is a  it is  to be  I'll  Let me  I'm  don't  can't  it's  // /** * @param @returns */ /// # - [ ]",
  " **: ** | --- |\n\t\n\t\t\n\t\t\t\n```ts\n\n```\n\n### \n\n## \n\n- \n1. \n2. \n* \n  \n    \n      \n        ",
].join("");

/** Typical JSON beginnings of our messages. */
const SKELETON = [
  '{"role":"tool","parts":[{"type":"tool-result","callId":"call_","name":"","isError":true,"output":[{"type":"text","text":',
  '}]}],"model":"","meta":{"{"role":"assistant","parts":[{"type":"reasoning","text":1,"opaque":{"signature":"',
  '{"type":"tool-call","callId":"toolu_","name":"read_file","input":{"path":"","command":"","content":"\\n    \\n\\n',
  '"}}]}\n{"role":"assistant","parts":[{"type":"text","text":1}]}\n{"role":"user","parts":[{"type":"text","text":',
].join("");

/** The first primer. */
export const PRIMER: Uint8Array = new TextEncoder().encode(WORDS + SKELETON);

/** Shared by all calls, which never overlap; fits the longest text that is not left to zstd. */
const lz4 = new Lz4(PRIMER, ZSTD_FROM_CHARACTERS * 3);
const unpackedText = Buffer.from(lz4.input.buffer, lz4.input.byteOffset, lz4.input.byteLength);

/** Encodes the text of an entry; the checksum covers text and kind. */
export function encodePayload(text: string, kind: EntryKind): Uint8Array {
  if (text.length >= ZSTD_FROM_CHARACTERS) return encodeLarge(text, kind);
  const size = encoder.encodeInto(text, lz4.input).written;
  if (size >= MIN_PACKED_BYTES) {
    const packed = lz4.pack(size);
    if (packed.length + LZ4_SIZE_BYTES < size) {
      // From Node's pool: a separate buffer for every small payload would fragment the heap.
      const payload = Buffer.allocUnsafe(HEADER_BYTES + LZ4_SIZE_BYTES + packed.length);
      payload[HEADER_BYTES] = size;
      payload[HEADER_BYTES + 1] = size >>> 8;
      payload.set(packed, HEADER_BYTES + LZ4_SIZE_BYTES);
      return writeHeader(payload, LZ4, kind);
    }
  }
  return withHeader(RAW, lz4.input.subarray(0, size), kind);
}

function encodeLarge(text: string, kind: EntryKind): Uint8Array {
  return zlib.zstdCompressSync
    ? withHeader(ZSTD, zlib.zstdCompressSync(text), kind)
    : withHeader(DEFLATE, zlib.deflateRawSync(text), kind);
}

function withHeader(packing: number, bytes: Uint8Array, kind: EntryKind): Uint8Array {
  const payload = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  payload.set(bytes, HEADER_BYTES);
  return writeHeader(payload, packing, kind);
}

/** Writes the header of a payload whose body is in place. */
function writeHeader(payload: Buffer, packing: number, kind: EntryKind): Uint8Array {
  payload[0] = CHECKED | packing;
  payload.writeUInt32LE(computePayloadChecksum(payload.subarray(HEADER_BYTES), packing, kind), 1);
  return payload;
}

/** Whether a payload has a checksum, as all new payloads do. */
export function hasChecksum(payload: Uint8Array): boolean {
  return (payload[0] ?? 0) >= CHECKED;
}

/** Decodes the text of an entry; throws STORE_CORRUPT if the payload is damaged. */
export function decodePayload(payload: Uint8Array, kind: EntryKind): string {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const first = bytes[0] ?? Number.NaN;
  // Written before payloads had checksums.
  if (first < PACKINGS) return unpack(first, bytes, 1);
  const packing = first - CHECKED;
  if (!(packing >= 0 && packing < PACKINGS) || bytes.length < HEADER_BYTES)
    throw createDamagedError("no known packing");
  if (computePayloadChecksum(bytes.subarray(HEADER_BYTES), packing, kind) !== bytes.readUInt32LE(1))
    throw createDamagedError("wrong checksum");
  return unpack(packing, bytes, HEADER_BYTES);
}

function unpack(packing: number, payload: Buffer, start: number): string {
  if (packing === LZ4) {
    const size = (payload[start] as number) | ((payload[start + 1] as number) << 8);
    if (!lz4.unpack(payload, start + LZ4_SIZE_BYTES, size)) throw createDamagedError("not LZ4");
    return unpackedText.toString("utf8", 0, size);
  }
  if (packing === RAW) return payload.toString("utf8", start);
  const body = payload.subarray(start);
  try {
    if (packing === DEFLATE) return zlib.inflateRawSync(body).toString();
    if (zlib.zstdDecompressSync) return zlib.zstdDecompressSync(body).toString();
  } catch (error) {
    throw createDamagedError(packing === ZSTD ? "not zstd" : "not deflate", error);
  }
  throw createZstdError();
}

function createDamagedError(problem: string, cause?: unknown): LonghaulError {
  return new LonghaulError("STORE_CORRUPT", `The payload is damaged: ${problem}.`, { cause });
}

function createZstdError(): LonghaulError {
  return new LonghaulError(
    "CODEC_UNAVAILABLE",
    `This entry is packed with zstd, which Node ${process.version} does not have; run Node 22.15 or later.`,
  );
}

/** CRC-32 of a packed body, seeded with packing and entry kind, so that a change of either changes the checksum. */
function computePayloadChecksum(body: Uint8Array, packing: number, kind: EntryKind): number {
  let own = seeds.get(kind);
  if (!own) {
    own = [];
    seeds.set(kind, own);
  }
  own[packing] ??= crc32(`${packing} ${kind}`);
  return crc32(body, own[packing]);
}

const seeds = new Map<EntryKind, number[]>();
