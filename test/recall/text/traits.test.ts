import { describe, expect, test } from "vitest";
import { listDefinitions } from "../../../src/recall/files/index-files.ts";
import { detectTraits, TRAIT, type Trait } from "../../../src/recall/text/traits.ts";

const named = (text: string) =>
  (Object.keys(TRAIT) as Trait[]).filter((trait) => (detectTraits(text) & TRAIT[trait]) !== 0);

describe("detectTraits", () => {
  test("detectTraits recognizes facts that a person tells about themselves", () => {
    expect(named("I just bought a lamp for $40 last weekend.")).toEqual(
      expect.arrayContaining(["money", "number", "personal", "event", "time", "statement"]),
    );
  });

  test("detectTraits distinguishes standing instructions and preferences from other requests", () => {
    expect(named("Always include version numbers when I ask about libraries.")).toContain("rule");
    expect(named("Give sources whenever I want a figure.")).toContain("rule");
    expect(named("I prefer short answers.")).toContain("preference");
    expect(named("Can you help me with a short answer?")).not.toContain("preference");
  });

  test("detectTraits does not take a bare question for a statement", () => {
    expect(named("Where did you put the keys?")).not.toContain("statement");
    expect(named("The keys are on the shelf. Is that fine?")).toContain("statement");
  });

  test("detectTraits recognizes code", () => {
    expect(named("```ts\nconst a = 1;\n```")).toContain("code");
  });
});

test("listDefinitions names the definitions in a file of Python, TypeScript, Rust or Go", () => {
  expect(
    listDefinitions("class Dataset(Mapping):\n    def update(self):\n        pass\nLIMIT = 3\n"),
  ).toEqual(expect.arrayContaining(["Dataset", "update", "LIMIT"]));
  expect(listDefinitions("export async function openKernel() {}\nexport interface Row {}\n")).toEqual(
    expect.arrayContaining(["openKernel", "Row"]),
  );
  expect(listDefinitions("pub fn parse() {}\nfunc (s *Server) Serve() {}\n")).toEqual(
    expect.arrayContaining(["parse", "Serve"]),
  );
});
