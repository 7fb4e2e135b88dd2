import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as ai from "../src/adapters/ai/index.ts";
import * as mcp from "../src/adapters/mcp/index.ts";
import * as formats from "../src/histories/entries/formats.ts";
import * as memory from "../src/kernel/faces/memory.ts";
import {
  estimateMessage,
  estimateText,
  extractSummary,
  modelFacts,
  replay,
  tokensOfMessage,
} from "../src/kernel/faces/window.ts";
import * as api from "../src/kernel/index.ts";
import { isLonghaulError, type Kernel, openKernel, type Session } from "../src/kernel/index.ts";
import { testFolder } from "./support/folder.ts";
import { testKernel } from "./support/kernel.ts";
import { proofCases, sizedTest } from "./support/proof.ts";

/** Functions of `longhaul/window` that check their arguments; the others are for inner loops. */
const windowFunctions = {
  estimateMessage,
  estimateText,
  extractSummary,
  modelFacts,
  replay,
  tokensOfMessage,
};

type Call = (...args: unknown[]) => unknown;

/** Values that are invalid for most parameters and options. */
function badValues(): readonly unknown[] {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  return [
    undefined,
    null,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "",
    "\u0000",
    "nobody#0",
    true,
    [],
    [null],
    [{}],
    {},
    { text: 1, parts: 2, signal: 3, meta: 4n },
    cycle,
    Object.create(null),
    () => 1,
    Symbol("symbol"),
    10n,
    new Date(Number.NaN),
  ];
}

/** Arguments before the bad one: the typical first arguments of the public methods. */
const BEGINNINGS: readonly (readonly unknown[])[] = [
  [],
  ["nobody"],
  [1],
  [{ role: "user", text: "hello" }],
  [1, { role: "user", text: "hello" }],
  [["nowhere"]],
];

/** Methods that close handles, and slow methods without arguments. */
const LEFT_OUT = new Set(["constructor", "close", "vacuum", "collectGarbage"]);

function methodsOf(handle: object): readonly string[] {
  const names = new Set<string>();
  for (let own = handle; own !== Object.prototype && own !== null; own = Object.getPrototypeOf(own))
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(own)))
      if (typeof value === "function" && !LEFT_OUT.has(name)) names.add(name);
  return [...names];
}

/** Calls, awaits promises and the first item of generators; returns the thrown error. */
async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    const returned = call() as
      | { then?: unknown; next?: () => Promise<unknown>; return?: () => Promise<unknown>; close?: Call }
      | undefined;
    if (typeof returned?.next === "function") {
      const first = returned.next();
      await Promise.race([first, new Promise((resolve) => setTimeout(resolve, 20))]);
      await Promise.race([returned.return?.(), new Promise((resolve) => setTimeout(resolve, 20))]);
    } else if (typeof returned?.then === "function") await returned;
    else if (typeof returned?.close === "function") await returned.close();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The state that a failed call must not change. */
async function stateOf(kernel: Kernel, session: Session): Promise<string> {
  const sessions = await kernel.sessions({ limit: 1_000 });
  const tasks = await kernel.tasks.list({ limit: 1_000 });
  const pending = session.edits.list().length;
  return JSON.stringify([sessions, tasks.length, await session.head(), pending]);
}

async function isTypedOrFine(name: string, args: readonly unknown[], call: () => unknown): Promise<boolean> {
  const failure = await failureOf(call);
  if (failure === undefined) return false;
  const shown = `${name}(${args.map((arg) => typeof arg).join(", ")}): ${failure}`;
  expect(isLonghaulError(failure), shown).toBe(true);
  return true;
}

sizedTest.each(
  proofCases(
    [
      "kernel",
      "edits",
      "overlays",
      "window",
      "memory",
      "memories",
      "blobs",
      "intake",
      "draft",
      "session",
      "tasks",
    ],
    9,
  ),
)("every method of %s refuses wrong arguments with a typed error and changes nothing", async (group) => {
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  const session = await kernel.session("session");
  await session.append({ role: "user", text: "hello" });
  const handles: Readonly<Record<typeof group, () => Promise<object> | object>> = {
    kernel: () => kernel,
    session: () => session,
    edits: () => session.edits,
    overlays: () => session.overlays,
    window: () => session.window({ model: "gpt-4o" }),
    memory: () => kernel.memory,
    memories: () => kernel.memories("agent"),
    blobs: () => kernel.blobs,
    tasks: () => kernel.tasks,
    intake: () => session.intake("source"),
    draft: () => session.draft({ role: "assistant", text: "" }),
  };
  const handle = await handles[group]();
  let refused = 0;
  for (const name of methodsOf(handle)) {
    const method = (handle as Record<string, Call>)[name]?.bind(handle) as Call;
    for (const bad of badValues())
      for (const beginning of BEGINNINGS) {
        const args = [...beginning, bad];
        const before = await stateOf(kernel, session);
        if (!(await isTypedOrFine(`${group}.${name}`, args, () => method(...args)))) continue;
        refused++;
        expect(await stateOf(kernel, session), `${group}.${name} changed something`).toBe(before);
      }
  }
  expect(refused).toBeGreaterThan(0);
});

test("every exported function refuses wrong arguments with a typed error", async () => {
  // The home of a kernel without a path, and an empty folder.
  const folder = testFolder();
  mkdirSync(join(folder, "empty"));
  const { LONGHAUL_HOME } = process.env;
  process.env.LONGHAUL_HOME = join(folder, "home");
  onTestFinished(() => {
    if (LONGHAUL_HOME === undefined) delete process.env.LONGHAUL_HOME;
    else process.env.LONGHAUL_HOME = LONGHAUL_HOME;
  });
  for (const [name, exported] of [ai, formats, api, mcp, memory, windowFunctions].flatMap((entry) =>
    Object.entries(entry),
  )) {
    if (typeof exported !== "function" || /^[A-Z]/.test(name) || name === "processCleanups") continue;
    for (const bad of badValues())
      for (const args of [[bad], ["nobody", bad], [[], bad], [bad, bad], [{}, bad, bad]])
        await isTypedOrFine(name, args, () => (exported as Call)(...args));
  }
});

test("every option of a kernel is checked", async () => {
  const names = [
    "path",
    "durability",
    "busyTimeoutMs",
    "store",
    "limits",
    "tasks",
    "clock",
    "ids",
    "catalogue",
    "models",
    "embedder",
    "providers",
    "onWarning",
  ];
  for (const name of names)
    for (const bad of badValues()) {
      if (bad === undefined || (name === "path" && bad === "nobody#0")) continue;
      const options = { path: ":memory:", [name]: bad } as api.KernelOptions;
      await isTypedOrFine(`openKernel ${name}`, [bad], async () => (await openKernel(options)).close());
    }
});
