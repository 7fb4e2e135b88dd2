import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Role } from "../../../../src/kernel/index.ts";
import { alignRequest, type KeyedMessages } from "../../../../src/server/gateway/identity/choose-thread.ts";
import {
  buildReminderMark,
  canBeReminder,
  countSimilarReminders,
  type ReminderMark,
} from "../../../../src/server/gateway/thread/thread-messages.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";

const ROLES: Readonly<Record<string, Role>> = {
  u: "user",
  e: "user",
  a: "assistant",
  t: "tool",
  s: "system",
};

/** "u1 a1 t1" as keys, with the role by the first letter. */
const said = (text: string): KeyedMessages => {
  const keys = text.split(" ").filter((key) => key !== "");
  return { keys, roles: keys.map((key) => ROLES[key[0] as string] as Role) };
};
const align = (line: string, request: string) => alignRequest(said(line), said(request));

describe("aligning a line with a request", () => {
  test("a line follows, rewinds or replaces messages to match a request", () => {
    expect(align("u1 a1", "u1 a1 u2")).toEqual({ type: "follow", known: 2 });
    expect(align("u1 a1 u2 a2", "u1 a1 u3")).toEqual({ type: "rewind", keep: 2 });
    expect(align("u1 a1 u2 a2", "u9 a1 u2 a2 u3")).toEqual({ type: "replace", places: [0] });
  });

  test("a line drops messages that were sent with one request only", () => {
    expect(align("u1 e1 a1", "u1 a1 t1 e2")).toEqual({ type: "drop", places: [1] });
    expect(align("u1 a1 t1 e2 a2", "u1 a1 t1 a2 u3 e3")).toEqual({ type: "drop", places: [3] });
    expect(align("u1 s1 e1 a1", "u1 a1 u2")).toEqual({ type: "drop", places: [1, 2] });
  });

  test("a line drops single replies and results that the client left out", () => {
    expect(align("u1 a1 u2 a2", "u1 u2 a2 u3")).toEqual({ type: "drop", places: [1] });
    expect(align("u1 a1 t1 a2", "u1 a1 a2 u3")).toEqual({ type: "drop", places: [2] });
  });

  test("a line drops the beginning that a sliding window left behind", () => {
    expect(align("u1 a1 u2 a2 u3 a3", "u3 a3 u4")).toEqual({ type: "drop", places: [0, 1, 2, 3] });
    expect(align("u1 a1 u2 a2 u3 a3", "u1 u3 a3 u4")).toEqual({ type: "drop", places: [1, 2, 3] });
    expect(align("u1 a1 u2 a2 u3 a3", "a3 u4")).toEqual({ type: "drop", places: [0, 1, 2, 3, 4] });
  });

  test("a line drops both ends when a client that trims its history asks for another reply", () => {
    const line = "u1 a1 u2 a2 u3 a3";
    expect(align(line, "u2 a2 u3")).toEqual({ type: "drop", places: [0, 1, 5] });
    expect(align(line, "u2 a2 u4")).toEqual({ type: "drop", places: [0, 1, 4, 5] });
    expect(align("u2 a2 u3 a3", "u2 a2 u3")).toEqual({ type: "rewind", keep: 3 });
  });

  test("a line rewinds when the last message was edited", () => {
    expect(align("u1 a1 u2", "u1 a1 u3")).toEqual({ type: "rewind", keep: 2 });
    expect(align("u1 a1 u2 a1", "u1 a1 u3")).toEqual({ type: "rewind", keep: 2 });
  });

  test("a line drops a run of messages that the client cut out to make room", () => {
    const line = "u1 a1 t1 a2 t2 a3 t3 a4 t4 a5";
    expect(align(line, "u1 a1 t3 a4 t4 a5 u2")).toEqual({ type: "drop", places: [2, 3, 4, 5] });
  });

  test("a line keeps its end, and drops first, when a client puts few messages in place of many before it", () => {
    const line = "u1 a1 u2 a2 u3 a3";
    expect(align(line, "u9 u3 a3 u4")).toEqual({ type: "drop", places: [1, 2, 3] });
    expect(align("u1 u3 a3", "u9 u3 a3 u4")).toEqual({ type: "replace", places: [0] });
    expect(align(line, "u1 a9 u3 a3 u4")).toEqual({ type: "drop", places: [2, 3] });
    expect(align(line, "u9 a9 a3 u4")).toEqual({ type: "rewind", keep: 0 });
  });

  sizedTest("an aligned line equals the beginning of the request", () => {
    const row = fc.array(fc.constantFrom("u1", "u2", "e1", "a1", "a2", "t1", "s1"), { maxLength: 12 });
    fc.assert(
      fc.property(row, row, (one, other) => {
        const line = said(one.join(" "));
        const request = said(other.join(" "));
        const result = carriedOut(line.keys, request);
        expect(result).toEqual(request.keys.slice(0, result.length));
      }),
      { numRuns: proofRounds(2_000) },
    );
  });

  test("one vanished reminder never costs any other message", () => {
    const turns = fc.array(fc.constantFrom("t", "u"), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(turns, (kinds) => {
        let line: string[] = [];
        const spoken: string[] = [];
        for (const [index, kind] of kinds.entries()) {
          spoken.push(`${index === 0 ? "u" : kind}${index}`);
          const asked = [...spoken, `e${index}`];
          const alignment = alignRequest(said(line.join(" ")), said(asked.join(" ")));
          expect(["follow", "drop"]).toContain(alignment.type);
          if (alignment.type === "drop") expect(alignment.places).toHaveLength(1);
          line = [...asked, `a${index}`];
          spoken.push(`a${index}`);
        }
      }),
    );
  });
});

/** The line after its changes; a line that has dropped messages is compared again. */
function carriedOut(line: readonly string[], request: KeyedMessages): readonly string[] {
  const alignment = alignRequest(said(line.join(" ")), request);
  if (alignment.type === "follow") return line;
  if (alignment.type === "rewind") return line.slice(0, alignment.keep);
  const { places } = alignment;
  if (alignment.type === "drop") {
    const rest = line.filter((_, place) => !places.includes(place));
    expect(rest.length).toBeLessThan(line.length);
    return carriedOut(rest, request);
  }
  return line.map((key, place) => (places.includes(place) ? (request.keys[place] as string) : key));
}

describe("the next reminder of a client", () => {
  const mark = (text: string) => buildReminderMark({ role: "user", text });

  test("the next reminder of a client is recognized by its beginning", () => {
    const words = (time: string) => `<runtime>\ntime: ${time}\n</runtime> be quick`;
    const vanished = ["10:12", "10:15"].flatMap((time) => mark(words(time)) ?? []);
    const alike = (text: string) => countSimilarReminders(vanished, mark(text) as ReminderMark);
    expect(alike(words("11:47"))).toBe(2);
    expect(alike("Please look at the tests, too.")).toBe(0);
  });

  test("no answer to the model and no words of the model count as a reminder", () => {
    expect(canBeReminder("user", "assistant")).toBe(false);
    expect(canBeReminder("assistant", "user")).toBe(false);
    expect(canBeReminder("user", "tool")).toBe(true);
  });

  test("a text of few words never counts as a reminder", () => {
    expect(mark("Go on.")).toBeUndefined();
  });
});
