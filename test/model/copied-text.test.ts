import fc from "fast-check";
import { test } from "vitest";
import { copyString } from "../../src/model/text-codes.ts";

test("a copied string equals the original", () => {
  fc.assert(fc.property(fc.string(), (text) => copyString(text) === text));
});
