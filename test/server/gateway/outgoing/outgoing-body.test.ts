import fc from "fast-check";
import { expect, test } from "vitest";
import { buildOutgoingBody } from "../../../../src/server/gateway/outgoing/outgoing-body.ts";
import { cutBody } from "../../../../src/server/gateway/request/cut-body.ts";

const name: fc.Arbitrary<string> = fc.constantFrom("a", "b", 'quo"te', "back\\", "c", "list");

test("several fields can be removed together, wherever they stand and whatever their names contain", () => {
  fc.assert(
    fc.property(
      fc.dictionary(name, fc.oneof(fc.integer(), fc.string(), fc.constant([1, 2]))),
      fc.array(name),
      fc.constantFrom(0, 2),
      (body, without, indent) => {
        const bytes = Buffer.from(JSON.stringify(body, null, indent));
        const sent = Buffer.concat([
          ...buildOutgoingBody(
            { cut: cutBody(bytes, "list") },
            { pieces: undefined, removed: [...new Set(without)] },
          ),
        ]);
        const left = Object.entries(body).filter(([field]) => !without.includes(field));
        expect(JSON.parse(sent.toString())).toEqual(Object.fromEntries(left));
      },
    ),
  );
});
