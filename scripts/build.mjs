// Builds the package into dist/: declarations by the compiler, JavaScript by the bundler. One file per entry and a few
// shared chunks load many times faster than a thousand small modules. Entries are the package's exports, its programs
// and its workers (`*-worker.ts`); everything else is reached from those.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { build } from "vite";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { exports, bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const workers = readdirSync(join(root, "src"), { recursive: true })
  .map(String)
  .filter((path) => path.endsWith("-worker.ts"));
const sourceOf = (declaration) => declaration.replace("./dist/", "").replace(/\.d\.ts$|\.js$/, ".ts");
/** The source of each built file. An entry's types stand next to its source. */
const sources = new Map([
  ...Object.values(exports).flatMap((entry) => (entry.types ? [[entry.default, sourceOf(entry.types)]] : [])),
  ...Object.values(bin).map((file) => [`./${file}`, sourceOf(`./${file}`)]),
  ...workers.map((path) => [`./dist/${path}`, path]),
]);

// Packages stay imports, except the helper that replaces `using`, and those of the Model Context Protocol with all they
// import: an agent starts that server with each conversation, and as one file it loads in half the time (decision 0037).
// The client for OpenID Connect (decision 0062), the signer of requests to AWS and OpenTelemetry are bundled too: only
// gateways that need them load them, and nobody has to install them.
const BUNDLED = /^@modelcontextprotocol\/|^openid-client$|^jose$|^aws4fetch$|^@opentelemetry\//;
const isBundledBy = (importer) =>
  /[\\/]node_modules[\\/]|[\\/]src[\\/]adapters[\\/]mcp[\\/]|[\\/]scripts[\\/]/.test(importer);
function isExternal(id, importer = "") {
  if (/^[./\0]/.test(id) || isAbsolute(id) || /^@oxc-project\/runtime/.test(id)) return false;
  if (id.startsWith("node:")) return true;
  return !(BUNDLED.test(id) || isBundledBy(importer));
}

rmSync(join(root, "dist"), { recursive: true, force: true });
const compiler = join(root, "node_modules", ".bin", process.platform === "win32" ? "tsc.cmd" : "tsc");
// `npm run check` checks the types; without it declarations take half the time and memory.
const declarations = spawnSync(compiler, ["-p", "tsconfig.build.json", "--noCheck", "--checkers", "1"], {
  cwd: root,
  stdio: "inherit",
  shell: process.platform === "win32",
});
if (declarations.status !== 0) process.exit(1);
// The types of all routes are large and only for the dashboard, which takes them from the sources.
for (const path of ["routes", "routes.d.ts"])
  rmSync(join(root, "dist", "server", "api", path), { recursive: true });

const input = Object.fromEntries(
  [...sources].map(([file, source]) => [
    file.slice("./dist/".length).replace(/\.[jt]s$/, ""),
    join(root, "src", source),
  ]),
);
const bundle = await rolldown({
  cwd: root,
  input,
  platform: "node",
  external: isExternal,
  logLevel: "warn",
  plugins: [
    {
      name: "mcp-shims",
      resolveId: (id) =>
        id === "@modelcontextprotocol/server/_shims" ? join(root, "scripts", "mcp-shims.mjs") : null,
    },
  ],
  // The oldest Node that package.json names has no `using`.
  transform: { target: "node22.13" },
});
const { output } = await bundle.write({
  dir: "dist",
  format: "esm",
  chunkFileNames: "chunks/[name]-[hash].js",
  // The part of a hook that an agent starts with every step, as one file. Parts that many commands need without the
  // layers around them: the lowest layers, and facts about models and calls.
  codeSplitting: {
    groups: [
      { name: "hook-relay", test: /[\\/](?:hook-relay|hook-place|status-line)\.ts$/ },
      { name: "base", test: /[\\/]src[\\/]model[\\/]/ },
      { name: "facts", test: /[\\/]src[\\/]window[\\/](?:effects|models)[\\/]/ },
    ],
  },
});
await bundle.close();

// The licenses of the packages inside the bundle, as they demand.
const folders = output
  .flatMap(({ moduleIds = [] }) => moduleIds)
  .flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/.exec(id)?.[0] ?? []);
const licenses = [...new Set(folders)].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim();
  return `${name} ${version}, ${license}\n\n${text}\n`;
});
writeFileSync(join(root, "dist", "THIRD-PARTY-LICENSES.txt"), licenses.join(`\n${"-".repeat(72)}\n\n`));

// What `longhaul mcp` answers before it has loaded its server: the server's own replies, which never change.
const { serveMcpStdio } = await import(new URL("../dist/adapters/entries/mcp.js", import.meta.url));
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07", "other"];
const METHODS = ["initialize", "tools/list", "prompts/list", "resources/templates/list"];
const greetings = {};
for (const tools of ["default", "all"]) {
  greetings[tools] = {};
  for (const version of VERSIONS) greetings[tools][version] = await recordGreetings(tools, version);
}
writeFileSync(join(root, "dist", "mcp-greetings.json"), JSON.stringify(greetings));

async function recordGreetings(tools, protocolVersion) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const stop = new AbortController();
  const serving = serveMcpStdio({ kernel: {}, tools, stdin, stdout, signal: stop.signal });
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const replies = {};
  for (const [id, method] of METHODS.entries()) {
    const client = { protocolVersion, capabilities: {}, clientInfo: { name: "build", version: "1" } };
    const params = method === "initialize" ? client : {};
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    replies[method] = JSON.parse((await lines.next()).value).result;
    if (id === 0) stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  }
  stop.abort();
  await serving;
  return replies;
}

// The words of the embedder and their terms, which would otherwise be computed at the first recall of every process.
const load = (path) => import(new URL(`../src/recall/${path}`, import.meta.url));
const { createStaticEmbedder } = await load("embed/static/static-embedder.ts");
const { readWeights } = await load("embed/static/static-weights.ts");
const { packTables, TABLES_FILE } = await load("embed/static/stored-tables.ts");
const { buildWordTable } = await load("embed/static/word-table.ts");
const { mapTerms } = await load("rank/term-vectors.ts");
const weights = readWeights();
const words = buildWordTable(weights.words, weights.factors.length - weights.pieces);
const terms = mapTerms(createStaticEmbedder(weights));
writeFileSync(join(root, "dist", TABLES_FILE), packTables(weights.id, words, terms));

// The dashboard, which the gateway serves from dist/web.
await build({ configFile: join(root, "web", "vite.config.ts"), logLevel: "warn" });
