import { CHUNK_AUTHORS, type NewChunk } from "../../memory-store.ts";
import type { Transaction } from "../connection/postgres-database.ts";
import { packBytes } from "./packed-bytes.ts";

/** Within a transaction that has locked the index: inserts chunks of a source, numbered from `first`. */
export async function insertChunks(
  transaction: Transaction,
  first: number,
  source: number,
  chunks: readonly NewChunk[],
  bodies: readonly Uint8Array[],
): Promise<void> {
  if (chunks.length === 0) return;
  const [starts, sizes, bytes] = packBytes(bodies);
  await transaction.query(
    `INSERT INTO @chunks (number, source, turn, seq, part, start, stop, at, author, speaker, traits, turn_length, body)
     SELECT $1::bigint + place - 1, $2::bigint, turn, seq, part, start, stop, at, author, speaker, traits, turn_length,
       substr($15::bytea, body_start, body_size)
     FROM unnest($3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::bigint[], $9::smallint[], $10::text[],
         $11::int[], $12::int[], $13::int[], $14::int[]) WITH ORDINALITY
       AS c (turn, seq, part, start, stop, at, author, speaker, traits, turn_length, body_start, body_size, place)`,
    [
      first,
      source,
      chunks.map((chunk) => chunk.turn),
      chunks.map((chunk) => chunk.seq),
      chunks.map((chunk) => chunk.part),
      chunks.map((chunk) => chunk.from),
      chunks.map((chunk) => chunk.to),
      chunks.map((chunk) => chunk.at),
      chunks.map((chunk) => CHUNK_AUTHORS.indexOf(chunk.author)),
      chunks.map((chunk) => chunk.speaker ?? null),
      chunks.map((chunk) => chunk.traits),
      chunks.map((chunk) => chunk.turnLength),
      starts,
      sizes,
      bytes,
    ],
  );
}
