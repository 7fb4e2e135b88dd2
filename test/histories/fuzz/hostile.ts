import type { Json } from "../../../src/kernel/index.ts";
import type { Random } from "../../support/random.ts";

/** Nesting depth of the deepest values. */
const DEEP = 10_000;

/** Placeholders for values that JSON.stringify cannot write, with their text. */
const WRITTEN: Readonly<Record<string, string>> = {
  "@deep-array": "[".repeat(DEEP) + "]".repeat(DEEP),
  "@deep-object": `${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}`,
  "@infinite": "1e400",
  "@negative-infinite": "-1e400",
  "@many-digits": "9".repeat(400),
  "@two-types": '{"type":"text","type":"message","type":null}',
};

/** A value as JSON, with placeholders replaced. */
export function hostileText(value: Json): string {
  return JSON.stringify(value).replace(/"(@[a-z-]+)"/g, (whole, name) => WRITTEN[name] ?? whole);
}

/** Values that may break a reader. `secret` is the path of a file that must never be read. */
export function hostileValues(secret: string): readonly Json[] {
  return [
    null,
    true,
    0,
    -1,
    1.5,
    2 ** 53,
    1e300,
    -8.64e15,
    "",
    " ",
    "x",
    "\u0000",
    "\ud800",
    "\udc00 \ud800",
    "2026-13-45T99:99:99Z",
    "x".repeat(20_000),
    "data:image/png;base64,",
    "data:image/png;base64,AAAA",
    "data:;base64,!!!!",
    "data:text/plain,words",
    secret,
    `../../../../../../..${secret}`,
    `file://${secret}`,
    "/dev/zero",
    "..",
    "[",
    '{"a":',
    // JSON in strings, the form in which many tools write the input of a call.
    "[".repeat(DEEP) + "]".repeat(DEEP),
    '{"__proto__":{"polluted":true}}',
    [],
    {},
    [[]],
    [null],
    [{}],
    { type: "tool_use" },
    { type: "text", text: {} },
    { role: "assistant", content: [{ type: "image", source: null }] },
    JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
    ...Object.keys(WRITTEN),
  ];
}

/** Field names with a meaning in JavaScript or in many formats. */
const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "toJSON",
  "then",
  "length",
  "",
  "0",
  "id",
  "uuid",
  "parentUuid",
  "parentId",
  "type",
  "role",
  "content",
  "message",
  "parts",
  "timestamp",
  "usage",
];

/** A potentially harmful field name. */
export function hostileName(random: Random): string {
  return random.pick(NAMES);
}
