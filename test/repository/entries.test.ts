import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compile, installDeclarations } from "../support/docs/type-check.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { readSources } from "./source-graph.ts";

/** Most names of `longhaul`: a list that a person reads in a few minutes. */
const MAX_NAMES = 70;

const named = readSources("src")
  .filter(({ path }) => path.includes("/entries/"))
  .flatMap(({ path, imports }) =>
    imports.flatMap(({ names }) => names ?? []).map((name) => ({ path, name })),
  );

test("the main entry exports few names", () => {
  const names = named.filter(({ path }) => path.endsWith("/entries/longhaul.ts"));
  expect(names.length).toBeGreaterThan(50);
  expect(names.length).toBeLessThanOrEqual(MAX_NAMES);
});

test("each name is exported by one entry", () => {
  const shared = [...Map.groupBy(named, ({ name }) => name)].filter(([, places]) => places.length > 1);
  expect(shared.map(([name, places]) => `${name}: ${places.map(({ path }) => path).join(", ")}`)).toEqual([]);
});

/** A library that exports inferred types of every other entry, and imports the main entry alone. */
const LIBRARY = `
import { openKernel } from "longhaul";
export const kernel = await openKernel({ path: ":memory:" });
export const session = await kernel.session("s");
export const facts = session.facts;
export const check = await kernel.check();
export const lines = await session.lines();
export const overlays = await session.overlays.list();
export const plan = (await session.window({ model: "gpt-4o" }).fit()).plan;
export const tasks = await kernel.tasks.list();
export const files = await kernel.memory.indexFiles([]);
export const state = await kernel.memory.state();
`;

proofTest("a program that imports the main entry can emit declarations with types of the others", () => {
  const folder = testFolder();
  installDeclarations(folder);
  writeFileSync(join(folder, "library.ts"), LIBRARY);
  const options = {
    target: "es2024",
    module: "nodenext",
    strict: true,
    declaration: true,
    skipLibCheck: true,
    types: [],
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, include: ["library.ts"] }),
  );
  expect(compile(folder, ["-p", "."])).toEqual([]);
});
