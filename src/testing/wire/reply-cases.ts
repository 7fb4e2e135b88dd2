import assert from "node:assert/strict";
import type { ReplyReader, Wire, WireEvent } from "../../wire/wire.ts";
import { toStoredParts } from "./wire-fixtures.ts";
import type { WireProof } from "./wire-proof.ts";

function readEvents(wire: Wire, events: readonly WireEvent[]): ReplyReader {
  const reader = wire.createReader();
  for (const event of events) reader.take(event);
  return reader;
}

export const replyCases: readonly WireProof[] = [
  [
    "replies: a stream gives the same message as the whole reply",
    async (wire, { events, body }) => {
      const streamed = readEvents(wire, events);
      const whole = wire.createReader();
      whole.takeWhole(JSON.stringify(body));
      const [one, other] = [streamed.message(), whole.message()];
      assert.ok(one && other);
      assert.deepEqual(await toStoredParts([one]), await toStoredParts([other]));
      assert.deepEqual(streamed.usage, whole.usage);
      assert.equal(streamed.model, whole.model);
      assert.equal(streamed.responseId, whole.responseId);
      assert.equal(streamed.stopReason, whole.stopReason);
      assert.ok(streamed.isComplete && whole.isComplete && streamed.hasBegun && whole.hasBegun);
    },
  ],
  [
    "replies: a stream that is cut off holds no half call",
    async (wire, { events }) => {
      const calls = (reader: ReplyReader) =>
        (reader.message()?.parts ?? []).filter(({ type }) => type === "tool-call");
      const whole = calls(readEvents(wire, events));
      assert.ok(whole.length > 0);
      for (let end = 0; end < events.length; end++) {
        const some = calls(readEvents(wire, events.slice(0, end)));
        assert.deepEqual(some, whole.slice(0, some.length));
      }
      assert.equal(readEvents(wire, events.slice(0, 1)).isComplete, false);
    },
  ],
  [
    "replies: a reader ignores everything it does not understand",
    async (wire, { events }) => {
      const strange = ["", "no JSON", "[]", "7", '{"type":"x_unknown"}'].map((data) => ({ data }));
      const reader = readEvents(
        wire,
        events.flatMap((event) => [...strange, event]),
      );
      assert.deepEqual(reader.message(), readEvents(wire, events).message());
      assert.equal(reader.isComplete, true);
    },
  ],
];
