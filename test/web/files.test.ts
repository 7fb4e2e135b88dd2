import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { ask, startGateway } from "../support/gateway.ts";

const QUIET = { upstream: "http://127.0.0.1:1" } as const;
const HTML = { accept: "text/html,application/xhtml+xml" };
const web = new URL("../../dist/web/", import.meta.url);

interface ManifestChunk {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
  readonly isEntry?: boolean;
}

/** Files that a browser loads for the frame and one page: the entry, a page, and all that these import statically. */
function listFirstFiles(page: string): ReadonlySet<string> {
  const manifest = JSON.parse(readFileSync(new URL("manifest.json", web), "utf8")) as Record<
    string,
    ManifestChunk
  >;
  const files = new Set(["index.html"]);
  const add = (key: string) => {
    const chunk = manifest[key];
    if (!chunk || files.has(chunk.file)) return;
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    for (const one of chunk.imports ?? []) add(one);
  };
  for (const [key, { isEntry }] of Object.entries(manifest)) if (isEntry) add(key);
  add(page);
  return files;
}

test("the first load of the overview takes at most 120 KB after compression", () => {
  const files = [...listFirstFiles("pages/overview/page.tsx")];
  expect(files.length).toBeGreaterThan(3);
  const sizes = files.map((file) => gzipSync(readFileSync(new URL(file, web)), { level: 9 }).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(120_000);
});

test("the document has a content security policy without exceptions, and browsers may cache its files for ever", async () => {
  const gateway = await startGateway(QUIET);
  const page = await ask(gateway, { method: "GET", path: "/", headers: HTML });
  const policy = page.header("content-security-policy") ?? "";
  expect(page.status).toBe(200);
  expect(page.header("content-type")).toBe("text/html; charset=utf-8");
  expect(page.header("cache-control")).toBe("no-cache");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(page.header("x-content-type-options")).toBe("nosniff");
  expect(page.text).not.toMatch(/<script>|<style| on[a-z]+=| style=|https?:\/\//);
  const again = await ask(gateway, {
    method: "GET",
    path: "/",
    headers: { ...HTML, "if-none-match": page.header("etag") ?? "" },
  });
  expect([again.status, again.body.length]).toEqual([304, 0]);
  const [script = ""] = /\/assets\/[\w-]+\.js/.exec(page.text) ?? [];
  const file = await ask(gateway, { method: "GET", path: script, headers: { "accept-encoding": "gzip" } });
  expect(file.status).toBe(200);
  expect(file.header("cache-control")).toContain("immutable");
  expect(file.header("content-encoding")).toBe("gzip");
  expect(file.header("x-content-type-options")).toBe("nosniff");
});

test("links to pages open the dashboard in browsers, and no API path or file is shadowed by a page", async () => {
  const gateway = await startGateway(QUIET);
  const open = (path: string, headers: Readonly<Record<string, string>> = HTML) =>
    ask(gateway, { method: "GET", path, headers });
  for (const path of [
    "/sessions/a%2Fb",
    "/sessions/x/window",
    "/search?q=port",
    "/memory",
    "/health",
    "/connect",
  ]) {
    const { status, text } = await open(path);
    expect([path, status, text.includes('id="app"')]).toEqual([path, 200, true]);
  }
  expect((await open("/sessions/x", { accept: "*/*" })).status).toBe(404);
  for (const path of [
    "/v1/unknown",
    "/api/nothing",
    "/api/v1/none",
    "/anthropic/none",
    "/assets/none.js",
    "/assets/../index.html",
  ]) {
    const { status, text } = await open(path);
    expect([path, status < 500 && status >= 400, text.includes('id="app"')]).toEqual([path, true, false]);
  }
  expect((await open("/metrics")).text).toContain("# TYPE");
  expect((await open("/healthz")).text).toContain('"ok"');
});

test("the dashboard refuses requests for other hosts and from pages of other origins", async () => {
  const gateway = await startGateway(QUIET);
  const foreign = await ask(gateway, {
    method: "GET",
    path: "/",
    headers: { ...HTML, origin: "http://evil.example" },
  });
  const rebound = await ask(gateway, {
    method: "GET",
    path: "/",
    headers: { ...HTML, host: "evil.example" },
  });
  const site = await ask(gateway, {
    method: "GET",
    path: "/",
    headers: { ...HTML, "sec-fetch-site": "cross-site" },
  });
  expect([foreign.status, rebound.status, site.status]).toEqual([403, 403, 403]);
});
