import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as fit from "../../src/adapters/ai/index.ts";
import * as ai from "../../src/adapters/entries/ai.ts";
import * as mcp from "../../src/adapters/entries/mcp.ts";
import * as langchain from "../../src/adapters/langchain.ts";
import * as openaiAgents from "../../src/adapters/openai-agents.ts";
import * as formats from "../../src/histories/entries/formats.ts";
import * as log from "../../src/kernel/entries/log.ts";
import * as api from "../../src/kernel/entries/longhaul.ts";
import * as memory from "../../src/kernel/entries/memory.ts";
import * as sqlite from "../../src/kernel/entries/sqlite.ts";
import * as task from "../../src/kernel/entries/task.ts";
import * as team from "../../src/kernel/entries/team.ts";
import * as window from "../../src/kernel/entries/window.ts";
import * as wire from "../../src/kernel/entries/wire.ts";
import * as gateway from "../../src/server/entries/gateway.ts";
import * as postgres from "../../src/stores/postgres/index.ts";
import * as testing from "../../src/stores/testing/index.ts";
import { fencesOf, proseOf } from "../support/docs/fences.ts";
import { readPages, root } from "../support/docs/pages.ts";

/** Pages for people who use longhaul; the others are about the source. */
const pages = readPages().filter(({ path }) => !/^docs\/(?:internals\/|decisions\/|glossary)/.test(path));

/** The entries of the package, by their path in its exports. */
const entries: Readonly<Record<string, object>> = {
  ".": api,
  "./window": window,
  "./task": task,
  "./team": team,
  "./memory": memory,
  "./log": log,
  "./sqlite": sqlite,
  "./postgres": postgres,
  "./testing": testing,
  "./formats": formats,
  "./ai": ai,
  "./fit": fit,
  "./gateway": gateway,
  "./mcp": mcp,
  "./wire": wire,
  "./langchain": langchain,
  "./openai-agents": openaiAgents,
};

/** Methods and function-typed fields that the declarations of the package have. */
function declaredMembers(): ReadonlySet<string> {
  const dist = join(root, "dist");
  const declarations = readdirSync(dist, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(".d.ts"))
    .map((path) => readFileSync(join(dist, path), "utf8"));
  const member = /^ {4}(?:readonly |static )?(\w+)\??(?:<[^>]*>)?(?:\(|: \()/gm;
  return new Set(declarations.flatMap((text) => [...text.matchAll(member)].map(([, name = ""]) => name)));
}

test("every function called on a page is exported or a method", () => {
  const exported = new Set(Object.values(entries).flatMap(Object.keys));
  const members = declaredMembers();
  const calls = pages.flatMap((page) =>
    [...proseOf(page).matchAll(/`(?:await )?([a-z]\w*)\(/g)].map(([, name = ""]) => ({
      name,
      page: page.path,
    })),
  );
  expect(calls.length).toBeGreaterThan(30);
  const unknown = calls.filter(({ name }) => !exported.has(name) && !members.has(name));
  expect(unknown.map(({ name, page }) => `${page}: ${name}`)).toEqual([]);
});

test("this file lists every entry of the package", () => {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const paths = Object.keys(exports).filter((path) => path !== "./package.json");
  expect(Object.keys(entries).sort()).toEqual(paths.sort());
});

test("every value exported by an entry is named on a page as code", () => {
  const code = pages.flatMap((page) => [
    ...fencesOf(page).map((fence) => fence.code),
    ...[...proseOf(page).matchAll(/`([^`]+)`/g)].map(([, quoted = ""]) => quoted),
  ]);
  const words = new Set(code.flatMap((text) => text.match(/\w+/g) ?? []));
  const missing = Object.entries(entries).flatMap(([path, entry]) =>
    Object.keys(entry)
      .filter((name) => !words.has(name))
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});
