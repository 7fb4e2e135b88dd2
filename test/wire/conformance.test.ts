import { describe, expect, test } from "vitest";
import { wireSuite } from "../../src/stores/testing/index.ts";
import { anthropicWire } from "../../src/wire/anthropic/anthropic-wire.ts";
import type { Wire } from "../../src/wire/wire.ts";
import { WIRES } from "../../src/wire/wires.ts";
import { WIRE_SAMPLES } from "./wire-samples.ts";

const NEVER_COMPLETE: PropertyDescriptorMap = { isComplete: { value: false } };

describe.each(WIRES.map((wire) => [wire.name, wire] as const))("the wire %s", (name, wire) => {
  for (const { name: title, run } of wireSuite(wire, WIRE_SAMPLES[name])) test(title, run);
});

describe("the suite", () => {
  const sample = WIRE_SAMPLES.anthropic;
  const broken: readonly (readonly [string, Partial<Wire>])[] = [
    ["loses messages", { decode: (elements) => anthropicWire.decode(elements.slice(1)) }],
    ["forgets the system prompt", { decodeLead: () => [] }],
    ["drops unknown fields", { encodeEdited: async ({ role }) => [{ role, content: "EDITED" }] }],
    ["reads no usage", { parseUsage: () => undefined }],
    ["caps nothing", { capUsage: () => undefined }],
    ["reads no faults", { parseFailure: (status) => ({ status }) }],
    ["never ends", { createReader: () => Object.create(anthropicWire.createReader(), NEVER_COMPLETE) }],
  ];

  test.each(broken)("the suite finds a wire that %s", async (_, fault) => {
    const cases = wireSuite({ ...anthropicWire, ...fault }, sample);
    const results = await Promise.allSettled(cases.map(({ run }) => run()));
    expect(results.some(({ status }) => status === "rejected")).toBe(true);
  });
});
