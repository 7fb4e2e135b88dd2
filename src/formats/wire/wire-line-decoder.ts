import type { Json } from "../../index.ts";
import { toObject } from "../../wire/fields.ts";
import type { LineDecoder } from "../reading/decode-lines.ts";
import { RequestLog } from "./request-log.ts";
import type { WireDialect } from "./wire-dialect.ts";
import { DistinctIds, toRecordItem } from "./wire-records.ts";

/** Creates a decoder for a JSONL file whose lines are messages, or requests, responses, or both. */
export function createWireLineDecoder(dialect: WireDialect, state: Json | undefined): LineDecoder {
  const messages = dialect.makeDecoder();
  const requests = new RequestLog(dialect, toObject(state)?.requests as Json | undefined);
  const ids = new DistinctIds();
  return {
    *decode(line) {
      if (!dialect.isMessage(line.record)) return yield* requests.readRequest(line);
      const place = `L${line.line}`;
      for (const piece of messages.decode(line.record, place))
        yield toRecordItem(ids.makeDistinct(piece, place));
    },
    get isSettled() {
      return messages.isSettled;
    },
    state: () => ({ requests: requests.state() }),
    *end() {
      for (const piece of messages.end()) yield toRecordItem(piece);
    },
  };
}
