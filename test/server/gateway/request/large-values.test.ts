import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { finish } from "../../../../src/model/base/turns.ts";
import { BodyError } from "../../../../src/server/gateway/request/cut-body.ts";
import { base64Slices, findLargeValues, textSlices } from "../../../../src/server/gateway/request/lift.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";

const whole = (bytes: Buffer) => ({ from: 0, to: bytes.length });

function find(json: string | Buffer, minBytes = 20) {
  const bytes = Buffer.from(json);
  return finish(findLargeValues(bytes, whole(bytes), { minBytes, mayLift: (name) => name === "input" }));
}

function isJson(json: string | Buffer): boolean {
  try {
    JSON.parse(json.toString());
    return true;
  } catch {
    return false;
  }
}

describe("large values of a body", () => {
  test("a large value of a body is JSON by itself, and so is the rest without it", () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), (one, other) => {
        const json = `{"a":${one},"input":${other},"b":[{"input":[${one}]}]}`;
        const bytes = Buffer.from(json);
        let rest = "";
        let at = 0;
        for (const { from, to, isText } of find(json)) {
          const value = JSON.parse(bytes.toString("utf8", from, to));
          expect(typeof value === "string").toBe(isText);
          expect(from).toBeGreaterThanOrEqual(at);
          rest += `${bytes.toString("utf8", at, from)}0`;
          at = to;
        }
        JSON.parse(rest + bytes.toString("utf8", at));
      }),
    );
  });

  sizedTest("the search for large values refuses invalid JSON as JSON.parse does", () => {
    const change = fc.record({ at: fc.nat(200), put: fc.constantFrom(...'{}[],:"\\ 019eE+-.tfn\u0001ux') });
    fc.assert(
      fc.property(fc.json(), fc.array(change, { maxLength: 3 }), (json, changes) => {
        let changed = json;
        for (const { at, put } of changes) changed = changed.slice(0, at) + put + changed.slice(at + 1);
        const read = () => find(changed);
        if (isJson(changed)) expect(read).not.toThrow();
        else expect(read).toThrow(BodyError);
      }),
      { numRuns: proofRounds(2_000) },
    );
  });

  sizedTest("a large text is the same slice by slice, wherever it is cut", () => {
    const piece = fc.constantFrom(
      "a",
      "\n",
      '"',
      "\\",
      "é",
      "漢",
      "\u{1f600}",
      "\ud83d",
      "\ude00",
      "\u0001",
      "words ",
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 12 }), fc.boolean(), (pieces, isEscaped) => {
        const text = pieces.join("").repeat(60_000);
        const plain = JSON.stringify(text);
        const json = isEscaped
          ? plain.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
          : plain;
        const bytes = Buffer.from(json);
        const slices = [...textSlices(bytes, whole(bytes))];
        expect(slices.map((slice) => slice.text).join("") === JSON.parse(json)).toBe(true);
        expect(Buffer.concat(slices.map((slice) => slice.bytes)).equals(Buffer.from(text))).toBe(true);
      }),
      { numRuns: proofRounds(40) },
    );
  });

  test("a large base64 value is decoded slice by slice, with escapes and after a label", () => {
    const data = Buffer.from(Array.from({ length: 700_001 }, (_, at) => (at * 7_919) % 251));
    for (const label of ["", "data:image/png;base64,"]) {
      const json = JSON.stringify(label + data.toString("base64")).replaceAll("/", "\\/");
      const bytes = Buffer.from(json);
      expect(Buffer.concat([...base64Slices(bytes, whole(bytes))]).equals(data)).toBe(true);
    }
  });
});
