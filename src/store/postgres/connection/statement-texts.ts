import { createHash } from "node:crypto";

/** A statement with a name, under which a server keeps its plan. */
interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/** Statements by their source text; there are a few hundred at most, all written in our code. */
export class StatementTexts {
  readonly #schema: string;
  readonly #known = new Map<string, NamedStatement>();

  constructor(schema: string) {
    this.#schema = schema;
  }

  /** Replaces `@table` by the table of this store's schema. */
  complete(source: string): NamedStatement {
    let statement = this.#known.get(source);
    if (!statement) {
      const text = source.replace(/@([a-z_]+)/g, `"${this.#schema}".$1`);
      statement = { text, name: `lh_${createHash("sha256").update(text).digest("hex").slice(0, 24)}` };
      this.#known.set(source, statement);
    }
    return statement;
  }
}
