import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const SEQS_PER_SESSION = 2 ** 30;

/** Changes the payload of one entry of a closed store. */
export function damageEntry(
  path: string,
  session: string,
  seq: number,
  change: (payload: Buffer) => Uint8Array = flipBit,
): void {
  const db = new DatabaseSync(join(path, "log.db"));
  try {
    const { number } = db.prepare("SELECT number FROM sessions WHERE id = ?").get(session) as {
      number: number;
    };
    const key = number * SEQS_PER_SESSION + seq;
    const row = db.prepare("SELECT payload FROM entries WHERE key = ?").get(key) as { payload: Uint8Array };
    const changed = change(Buffer.from(row.payload));
    db.prepare("UPDATE entries SET payload = ? WHERE key = ?").run(changed, key);
  } finally {
    db.close();
  }
}

/** Flips one bit in the middle of a payload. */
export function flipBit(payload: Buffer): Buffer {
  const at = payload.length >> 1;
  payload[at] = (payload[at] ?? 0) ^ 4;
  return payload;
}

/** Flips one bit in the middle of a blob's file. */
export function damageBlob(path: string, digest: string): void {
  const file = join(path, "blobs", digest.slice(0, 2), digest.slice(2));
  writeFileSync(file, flipBit(readFileSync(file)));
}
