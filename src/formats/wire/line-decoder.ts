import type { Json } from "../../index.ts";
import { objectOf } from "../content/fields.ts";
import type { LineDecoder } from "../reading/decode-lines.ts";
import type { Dialect } from "./dialect.ts";
import { DistinctIds, recordOf } from "./records.ts";
import { Requests } from "./requests.ts";

/** Creates a decoder for a JSONL file whose lines are messages, or requests, responses, or both. */
export function makeLineDecoder(dialect: Dialect, state: Json | undefined): LineDecoder {
  const messages = dialect.makeDecoder();
  const requests = new Requests(dialect, objectOf(state)?.requests as Json | undefined);
  const ids = new DistinctIds();
  return {
    *decode(line) {
      if (!dialect.isMessage(line.record)) return yield* requests.take(line);
      const place = `L${line.line}`;
      for (const piece of messages.decode(line.record, place)) yield recordOf(ids.apart(piece, place));
    },
    get isSettled() {
      return messages.isSettled;
    },
    state: () => ({ requests: requests.state() }),
    *end() {
      for (const piece of messages.end()) yield recordOf(piece);
    },
  };
}
