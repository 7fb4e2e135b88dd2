import { describe, expect, test } from "vitest";
import type { Message } from "../../src/kernel/index.ts";
import { buildCanonicalKey } from "../../src/server/gateway/identity/canonical-key.ts";
import { HAS_RECORDINGS } from "../server/gateway/recorded.ts";
import { loggedMessages } from "./logged.ts";
import { readExchanges } from "./recordings.ts";

describe.skipIf(!HAS_RECORDINGS)("requests of real clients", () => {
  const exchanges = HAS_RECORDINGS ? readExchanges() : [];

  test("a longer request of a real client decodes to the messages of a shorter one and more", () => {
    for (const { api, elements } of exchanges) {
      const whole = api.decode(elements);
      expect(whole.length).toBeGreaterThan(0);
      for (let end = 0; end <= elements.length; end++) {
        const part = api.decode(elements.slice(0, end));
        expect(part.slice(0, -1)).toEqual(whole.slice(0, Math.max(0, part.length - 1)));
        expect(part.at(-1)?.from).toBe(part.length === 0 ? undefined : whole[part.length - 1]?.from);
      }
    }
  });

  test("an unedited request of a real client is encoded unchanged, even with parts outside the log", async () => {
    for (const spillBytes of [40, 64 * 1024]) {
      const { log, base64Of } = loggedMessages(spillBytes);
      for (const { api, elements } of exchanges) {
        for (const { input, from, to } of api.decode(elements)) {
          const original = await log(input);
          const own = { elements: elements.slice(from, to), original };
          expect(await api.encodeEdited(original, own, base64Of)).toEqual(own.elements);
          // Restored, as a window passes it on.
          const restored = (await loggedMessages().log(input)) as Message;
          expect(await api.encodeEdited(restored, own, base64Of)).toEqual(own.elements);
        }
      }
    }
  });

  test("the next request of a real client contains the reply as the reader has read it", () => {
    let compared = 0;
    for (const [index, { api, scenario, events, elements }] of exchanges.entries()) {
      const next = exchanges[index + 1];
      if (!events || next?.scenario !== scenario) continue;
      const asked = api.decode(elements).map(({ input }) => buildCanonicalKey(input));
      const goesOn = api.decode(next.elements).map(({ input }) => buildCanonicalKey(input));
      // A client that compacts or names a conversation continues elsewhere.
      if (goesOn.length <= asked.length || asked.some((key, at) => key !== goesOn[at])) continue;
      const reader = api.createReader();
      for (const data of events) reader.take({ data });
      const message = reader.message();
      if (!reader.isComplete || !message) continue;
      const said = api.decode(next.elements).filter(({ from }) => from >= elements.length);
      const answer = said.find(({ input }) => input.role === "assistant");
      if (!answer) continue;
      compared++;
      expect(buildCanonicalKey(masked(message)), scenario).toBe(buildCanonicalKey(masked(answer.input)));
    }
    expect(compared).toBeGreaterThan(20);
  });

  test("streams to real clients have an end and usage, and errors are not read as replies", () => {
    for (const { api, events, body, status } of exchanges) {
      const reader = api.createReader();
      for (const data of events ?? []) reader.take({ data });
      if (body !== undefined) reader.takeWhole(body);
      if (status === 200 && reader.isComplete) {
        expect(reader.usage?.outputTokens).toBeGreaterThan(0);
        expect(reader.usage?.inputTokens).toBeGreaterThan(0);
        expect(reader.responseId).toBeTruthy();
        expect(reader.model).toBeTruthy();
        expect(reader.stopReason).toBeTruthy();
      }
      if (status !== 200) {
        expect(reader.isComplete).toBe(false);
        expect(reader.message()).toBeUndefined();
        expect(reader.failure?.message).toBeTruthy();
      }
    }
  });
});

/** Masks paths, which differ between recorded requests and the replies before them. */
function masked<T>(message: T): T {
  return JSON.parse(JSON.stringify(message).replace(/\/[\w./-]*proj\//g, "/proj/"));
}
