import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildRequestPrint } from "../../../../src/server/gateway/cache/request-print.ts";
import { buildOutgoingBody, spliceBody } from "../../../../src/server/gateway/outgoing/outgoing-body.ts";
import {
  BodyError,
  type CutBody,
  cutBody,
  cutChangedBody,
  type OutgoingPiece,
  parseRange,
} from "../../../../src/server/gateway/request/cut-body.ts";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";

const message = fc.record({ role: fc.constantFrom("user", "assistant"), content: fc.jsonValue() });
const rest = fc.dictionary(
  fc.string().filter((name) => name !== "messages" && name !== "__proto__"),
  fc.jsonValue(),
);

function bodyOf(before: object, messages: readonly unknown[], after: object, space?: number): Buffer {
  return Buffer.from(JSON.stringify({ ...before, messages, ...after }, null, space));
}

function values({ bytes, fields, elements }: CutBody): unknown {
  const listed = elements.map((range) => parseRange(bytes, range));
  return {
    ...Object.fromEntries([...fields].map(([name, range]) => [name, parseRange(bytes, range)])),
    messages: listed,
  };
}

describe("cutting a body", () => {
  sizedTest("cutting a body finds every field and every message as JSON.parse does", () => {
    fc.assert(
      fc.property(rest, fc.array(message), rest, fc.constantFrom(0, 2), (before, messages, after, space) => {
        const bytes = bodyOf(before, messages, after, space);
        expect(values(cutBody(bytes, "messages"))).toEqual(JSON.parse(bytes.toString()));
      }),
      { numRuns: proofRounds(500) },
    );
  });

  sizedTest("cutting a body finds the same with an earlier body at hand, whatever has changed since", () => {
    fc.assert(
      fc.property(
        rest,
        rest,
        fc.array(message),
        fc.array(message),
        fc.array(message),
        (one, other, common, old, fresh) => {
          const earlier = cutBody(bodyOf(one, [...common, ...old], other), "messages");
          const bytes = bodyOf(other, [...common, ...fresh], one);
          const cut = cutBody(bytes, "messages", () => [earlier]);
          expect(values(cut)).toEqual(values(cutBody(bytes, "messages")));
          expect(cut.same).toBeGreaterThanOrEqual(common.length);
        },
      ),
      { numRuns: proofRounds(500) },
    );
  });

  sizedTest("cutting a changed body finds the same as cutting its bytes, and digests them the same", () => {
    const position = fc.nat({ max: 8 });
    const piece = fc.oneof(
      fc
        .tuple(position, position)
        .map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const),
      fc.array(message, { minLength: 1 }),
    );
    fc.assert(
      fc.property(
        ...[rest, fc.array(message, { minLength: 8, maxLength: 8 }), rest, fc.array(piece)],
        (before, messages, after, chosen) => {
          const cut = cutBody(bodyOf(before, messages, after), "messages");
          buildRequestPrint("anthropic", cut, "a key");
          const pieces = chosen.flatMap((one): readonly OutgoingPiece[] => {
            if (typeof one[0] !== "number") return [{ elements: one as readonly WireObject[] }];
            const [from, to] = one as readonly [number, number];
            return from === to ? [] : [{ from, to }];
          });
          const sent = buildOutgoingBody({ cut }, { pieces, fields: new Map([["model", "another"]]) });
          const changed = cutChangedBody(sent, "messages", cut);
          const plain = cutBody(Buffer.concat(sent), "messages");
          expect(values(changed)).toEqual(values(plain));
          expect(buildRequestPrint("anthropic", changed, "")).toEqual(
            buildRequestPrint("anthropic", plain, ""),
          );
        },
      ),
      { numRuns: proofRounds(500) },
    );
  });

  test("cutting a body never mistakes a message for another with the same beginning", () => {
    const earlier = cutBody(bodyOf({}, [{ a: 1 }, { b: [1, 2] }], {}), "messages");
    const cut = cutBody(bodyOf({}, [{ a: 1 }, { b: [1, 2], c: 3 }], {}), "messages", () => [earlier]);
    expect(cut.same).toBe(1);
  });

  test.each([
    "",
    "[]",
    '"text"',
    "{",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a":1 "b":2}',
    '{"a":1}x',
    '{"messages":[1,]}',
    '{"messages":[{"a":1]',
    '{"messages":["abc',
    '{"a":1,"a":2}',
    '{"messages":[],"mess\\u0061ges":[]}',
  ])("cutting a body refuses %s", (text) => {
    const read = () => values(cutBody(Buffer.from(text), "messages"));
    expect(read).toThrow(BodyError);
  });

  test("replacing a message leaves the rest of the body byte for byte", () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1 }), rest, fc.nat(), (messages, after, which) => {
        const bytes = bodyOf({ model: "m" }, messages, after);
        const { elements } = cutBody(bytes, "messages");
        const index = which % elements.length;
        const range = elements[index] as (typeof elements)[number];
        const pieces = spliceBody(bytes, [{ range, bytes: Buffer.from('"changed"') }]);
        const whole = JSON.parse(bytes.toString());
        expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual({
          ...whole,
          messages: whole.messages.with(index, "changed"),
        });
        expect(spliceBody(bytes, [])).toEqual([bytes]);
      }),
    );
  });
});
