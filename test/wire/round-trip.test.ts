import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, Message, Part } from "../../src/kernel/index.ts";
import type { Wire, WireObject } from "../../src/wire/wire.ts";
import { WIRES } from "../../src/wire/wires.ts";
import { elementsOf } from "./elements.ts";
import { loggedMessages } from "./logged.ts";

describe.each(WIRES.map((api) => [api.name, api] as const))("messages of %s", (name, api) => {
  test("messages cover the elements in order, and do not depend on later elements", () => {
    fc.assert(
      fc.property(elementsOf(name), fc.nat(8), (elements, end) => {
        const whole = api.decode(elements);
        let before = 0;
        for (const { from, to } of whole) {
          expect(from).toBeGreaterThanOrEqual(before);
          expect(to).toBeGreaterThan(from);
          before = to;
        }
        expect(before).toBeLessThanOrEqual(elements.length);
        const part = api.decode(elements.slice(0, end));
        expect(part.slice(0, -1)).toEqual(whole.slice(0, Math.max(0, part.length - 1)));
      }),
    );
  });

  test("unedited messages are encoded unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(elementsOf(name), fc.constantFrom(20, 65_536), async (elements, spillBytes) => {
        const { log, base64Of } = loggedMessages(spillBytes);
        for (const { input, from, to } of api.decode(elements)) {
          const own = { elements: elements.slice(from, to), original: await log(input) };
          expect(await api.encodeEdited(own.original, own, base64Of)).toEqual(own.elements);
          const restored = await loggedMessages().log(input);
          expect(await api.encodeEdited(restored, own, base64Of)).toEqual(own.elements);
        }
      }),
    );
  });

  test("an edited message keeps its other parts unchanged, and loses only the removed part", async () => {
    await fc.assert(
      fc.asyncProperty(elementsOf(name), fc.nat(), fc.boolean(), async (elements, seed, isStub) => {
        const { log, base64Of } = loggedMessages();
        for (const { input, from, to } of api.decode(elements)) {
          const own = { elements: elements.slice(from, to), original: await log(input) };
          const at = seed % own.original.parts.length;
          const taken = own.original.parts[at] as Part;
          if (taken.type === "reasoning") continue;
          const stub: Part = { type: "text", text: "STUB" };
          const parts = own.original.parts.toSpliced(at, 1, ...(isStub ? [stub] : []));
          const encoded = await api.encodeEdited({ ...own.original, parts }, own, base64Of);
          expect(partsIn(api, encoded).some(isStubPart)).toBe(isStub);
          const kept = own.original.parts.toSpliced(at, 1);
          expect(saidIn(await loggedAll(api, encoded))).toEqual(saidIn(kept));
        }
      }),
    );
  });

  test("a note for removed messages is written as the user's text", async () => {
    const note: Message = { role: "user", parts: [{ type: "text", text: "Earlier: …" }] };
    const encoded = await api.encodeEdited(note, undefined, async () => undefined);
    expect(encoded).toHaveLength(1);
    expect(encoded[0]).toMatchObject({ role: "user" });
    expect(api.decode(encoded)[0]?.input).toEqual(note);
  });
});

async function loggedAll(api: Wire, elements: readonly WireObject[]): Promise<readonly Part[]> {
  const { log } = loggedMessages();
  const all: Part[] = [];
  for (const { input } of api.decode(elements)) all.push(...(await log(input)).parts);
  return all;
}

function partsIn(api: Wire, elements: readonly WireObject[]) {
  return api.decode(elements).flatMap(({ input }) => input.parts ?? []);
}

/** Content other than the stub: all text joined, calls and images; reasoning and ids may be missing. */
function saidIn(parts: readonly Part[]): readonly unknown[] {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const words = texts.join("").replaceAll("STUB", "").replaceAll(/\s/g, "");
  const others = parts.filter(({ type }) => type !== "text" && type !== "reasoning");
  return [
    words,
    ...others.map((part) => (part.type === "raw" ? { ...part, value: withoutId(part.value) } : part)),
  ];
}

function isStubPart(part: { readonly type: string; readonly text?: unknown }): boolean {
  return part.type === "text" && String(part.text).includes("STUB");
}

function withoutId(value: Json): Json {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const { id: _, ...rest } = value as { readonly [field: string]: Json };
  return rest;
}
