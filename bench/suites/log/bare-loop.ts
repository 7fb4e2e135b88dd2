import { join } from "node:path";
import { writeBody } from "../../../src/log/body.ts";
import { encodePayload } from "../../../src/log/codec.ts";
import { connect } from "../../../src/store/sqlite/connect.ts";
import type { Database } from "../../../src/store/sqlite/database.ts";
import { entryKey } from "../../../src/store/sqlite/key.ts";
import { kindNumber } from "../../../src/store/sqlite/kinds.ts";
import type { BenchMessage } from "../../peers/contestant.ts";
import { LOG_FILE } from "./longhaul.ts";

const SESSION_NUMBER = 1;

/**
 * The limit: a bare loop of prepared `node:sqlite` statements that makes the very rows longhaul makes. The connection
 * comes from longhaul itself, so that table, pragmas and durability can never differ.
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

  /** Opens a store of its own in a folder. */
  static async open(folder: string): Promise<BareLoop> {
    return new BareLoop(
      await connect(join(folder, LOG_FILE), { durability: "process", busyTimeoutMs: 30_000 }),
    );
  }

  /** Inserts rows, `groupSize` of them in a transaction; `encode` makes each row's payload in the loop. */
  insert<Item>(items: readonly Item[], groupSize: number, encode: (item: Item) => Uint8Array): void {
    const kind = kindNumber("message");
    for (let at = 0; at < items.length; at += groupSize) {
      const end = Math.min(at + groupSize, items.length);
      this.#begin.run();
      for (let index = at; index < end; index++) {
        const payload = encode(items[index] as Item);
        this.#insert.run(entryKey(SESSION_NUMBER, ++this.#seq), Date.now(), kind, payload);
      }
      this.#commit.run();
    }
  }

  close(): void {
    this.#database.close();
  }
}

/** The payload longhaul makes of a message. */
export function encodeMessage({ role, text }: BenchMessage): Uint8Array {
  const body = { kind: "message", message: { role, parts: [{ type: "text", text }] } } as const;
  return encodePayload(writeBody(body), body.kind);
}
