import { join } from "node:path";
import { encodePayload } from "../../../src/log/codec.ts";
import { writeBody } from "../../../src/log/entry-body.ts";
import { KIND_NUMBERS } from "../../../src/log/store/entry-store.ts";
import { connectDatabase } from "../../../src/stores/sqlite/connect-database.ts";
import type { Database } from "../../../src/stores/sqlite/database.ts";
import { toEntryKey } from "../../../src/stores/sqlite/entry-key.ts";
import type { BenchMessage } from "../../peers/contestant.ts";
import { LOG_FILE } from "./longhaul.ts";

const SESSION_NUMBER = 1;

/**
 * The limit: a bare loop of prepared `node:sqlite` statements that writes the same rows as longhaul. It uses longhaul's
 * own connection, so that table, pragmas and durability never differ.
 */
export class BareLoop {
  readonly #database: Database;
  readonly #begin;
  readonly #insert;
  readonly #commit;
  #seq = 0;

  constructor(database: Database) {
    this.#database = database;
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#insert = database.prepare("INSERT INTO entries (key, at, kind, payload) VALUES (?, ?, ?, ?)");
    this.#commit = database.prepare("COMMIT");
  }

  /** Opens its own store in a folder. */
  static async open(folder: string): Promise<BareLoop> {
    return new BareLoop(
      await connectDatabase(join(folder, LOG_FILE), { durability: "process", busyTimeoutMs: 30_000 }),
    );
  }

  /** Inserts rows, `groupSize` per transaction; `encode` builds each row's payload inside the loop. */
  insert<Item>(items: readonly Item[], groupSize: number, encode: (item: Item) => Uint8Array): void {
    const kind = KIND_NUMBERS["message"];
    for (let at = 0; at < items.length; at += groupSize) {
      const end = Math.min(at + groupSize, items.length);
      this.#begin.run();
      for (let index = at; index < end; index++) {
        const payload = encode(items[index] as Item);
        this.#insert.run(toEntryKey(SESSION_NUMBER, ++this.#seq), Date.now(), kind, payload);
      }
      this.#commit.run();
    }
  }

  close(): void {
    this.#database.close();
  }
}

/** The payload that longhaul writes for a message. */
export function encodeMessage({ role, text }: BenchMessage): Uint8Array {
  const body = { kind: "message", message: { role, parts: [{ type: "text", text }] } } as const;
  return encodePayload(writeBody(body), body.kind);
}
