import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as ai from "../../src/ai/index.ts";
import * as formats from "../../src/formats/index.ts";
import * as gateway from "../../src/gateway/index.ts";
import * as api from "../../src/index.ts";
import * as sqlite from "../../src/store/sqlite/index.ts";
import * as testing from "../../src/testing/index.ts";
import * as wire from "../../src/wire/index.ts";
import { proseOf } from "../support/docs/fences.ts";
import { readPages, root } from "../support/docs/pages.ts";

/** Pages for people who use longhaul; the others are about the source. */
const pages = readPages().filter(({ path }) => !/^docs\/(?:internals\/|decisions\/|glossary)/.test(path));

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

test("every function that a page calls is exported, or a method", () => {
  const exported = new Set([ai, formats, gateway, api, sqlite, testing, wire].flatMap(Object.keys));
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
