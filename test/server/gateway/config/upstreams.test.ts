import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../../../src/server/gateway/config/load-config.ts";
import { testFolder } from "../../../support/folder.ts";

type Env = Readonly<Record<string, string>>;

function load({
  env = {},
  upstream = [],
  file,
}: {
  env?: Env;
  upstream?: readonly string[];
  file?: object;
} = {}) {
  const store = testFolder();
  if (file) writeFileSync(join(store, "longhaul.json"), JSON.stringify(file), { mode: 0o600 });
  return loadConfig({ cwd: testFolder(), store, env, flags: { upstream } });
}
const upstreamsOf = (options?: Parameters<typeof load>[0]) => load(options).config.upstreams;
const named = (name: string, options?: Parameters<typeof load>[0]) =>
  upstreamsOf(options).find((one) => one.name === name);

describe("the usual upstreams", () => {
  test("the usual upstreams have a key or an address, or take the client's own key", () => {
    expect(upstreamsOf().map(({ name }) => name)).toEqual([
      "anthropic",
      "openai",
      "chatgpt",
      "gemini",
      "vertex",
    ]);
    const env = {
      GOOGLE_API_KEY: "k",
      OPENROUTER_API_KEY: "k",
      OLLAMA_HOST: "0.0.0.0",
      LLAMA_CPP_URL: "http://box:9",
    };
    expect(upstreamsOf({ env }).map(({ name }) => name)).toEqual([
      "anthropic",
      "openai",
      "chatgpt",
      "gemini",
      "vertex",
      "google",
      "openrouter",
      "ollama",
      "llama.cpp",
    ]);
    expect(named("google", { env })).toMatchObject({
      keyEnv: "GOOGLE_API_KEY",
      models: ["gemini*"],
      prefix: "google/",
    });
    expect(named("google", { env: { ...env, GEMINI_API_KEY: "k" } })?.keyEnv).toBe("GEMINI_API_KEY");
  });

  test.each([
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["box", "http://box:11434"],
    ["box:80", "http://box:80"],
    ["box:9000", "http://box:9000"],
    ["[::]:9000", "http://127.0.0.1:9000"],
    ["https://box.example/ollama", "https://box.example/ollama"],
  ])("the usual upstream for Ollama with OLLAMA_HOST %j is %s", (given, address) => {
    const { baseUrl = "" } = named("ollama", { env: { OLLAMA_HOST: given } }) ?? {};
    expect(new URL(baseUrl).href).toBe(new URL(address).href);
  });

  test("only Anthropic's own API carries out context_management itself", () => {
    expect(named("anthropic")?.contextManagement).toBe("upstream");
    expect(named("openai")?.contextManagement).toBe("gateway");
    const elsewhere = { upstream: ["anthropic=http://127.0.0.1:9"] };
    expect(named("anthropic", elsewhere)?.contextManagement).toBe("gateway");
  });
});

describe("addresses by option and variable", () => {
  test("an address by option or variable changes one upstream and leaves the rest", () => {
    const env = {
      LONGHAUL_UPSTREAM_ANTHROPIC: "http://127.0.0.1:1",
      LONGHAUL_UPSTREAM_OPENAI: "http://127.0.0.1:2/v1",
    };
    const all = upstreamsOf({ env, upstream: ["openai=http://127.0.0.1:3"] });
    expect(all.map(({ name, baseUrl }) => [name, baseUrl])).toEqual([
      ["anthropic", "http://127.0.0.1:1"],
      ["openai", "http://127.0.0.1:3"],
      ["chatgpt", "https://chatgpt.com/backend-api/codex"],
      ["gemini", "https://generativelanguage.googleapis.com"],
      ["vertex", "https://aiplatform.googleapis.com"],
    ]);
    expect(all[0]?.keyEnv).toBe("ANTHROPIC_API_KEY");
  });

  test("an address without a name makes one upstream for everything, and named addresses come after it", () => {
    expect(upstreamsOf({ upstream: ["http://127.0.0.1:8080"] })).toEqual([
      {
        name: "upstream",
        baseUrl: "http://127.0.0.1:8080",
        apis: ["anthropic", "openai-chat", "openai-responses", "google"],
        contextManagement: "gateway",
      },
    ]);
    const both = upstreamsOf({ upstream: ["google=https://g.example", "http://127.0.0.1:8080"] });
    expect(both.map(({ name }) => name)).toEqual(["upstream", "google"]);
    const env = { LONGHAUL_UPSTREAM: "http://127.0.0.1:8080" };
    expect(upstreamsOf({ env }).map(({ name }) => name)).toEqual(["upstream"]);
  });

  test("an address under an unknown name makes an upstream with that prefix, with a warning if the name looks misspelled", () => {
    const { config, warnings } = load({ upstream: ["vllm=http://127.0.0.1:8000/v1"] });
    expect(config.upstreams.at(-1)).toMatchObject({ name: "vllm", prefix: "vllm/", apis: { length: 3 } });
    expect(warnings).toEqual([]);
    const wrong = load({ env: { LONGHAUL_UPSTREAM_ANTROPIC: "http://127.0.0.1:1" } });
    expect(wrong.warnings[0]).toContain("did you mean anthropic?");
  });

  test("an invalid address is refused by the name of its option or variable", () => {
    expect(() => load({ upstream: ["anthropic=somewhere"] })).toThrow(
      '--upstream anthropic is "somewhere"; expected an address',
    );
    expect(() => load({ upstream: ["somewhere"] })).toThrow('--upstream is "somewhere"');
    expect(() => load({ env: { LONGHAUL_UPSTREAM_OPENAI: "ftp://x" } })).toThrow(
      'LONGHAUL_UPSTREAM_OPENAI is "ftp://x"',
    );
  });
});

describe("upstreams in the file", () => {
  const box = { name: "box", baseUrl: "http://127.0.0.1:8000/v1", apis: ["openai-chat"] };

  test("upstreams in the file replace the usual upstreams, so nothing goes to an unlisted provider", () => {
    expect(upstreamsOf({ file: { upstreams: [box] } }).map(({ name }) => name)).toEqual(["box"]);
  });

  test("two upstreams in the file cannot share a name or a prefix", () => {
    const file = { upstreams: [box, { ...box, prefix: "a/" }, { ...box, name: "c", prefix: "a/" }] };
    expect(() => load({ file })).toThrow(
      /upstreams\[1\]\.name is "box".*\n.*upstreams\[2\]\.prefix is "a\/"/,
    );
  });

  test("an upstream whose key would travel unencrypted gets a warning", () => {
    const open = { ...box, baseUrl: "http://10.0.0.5:8000/v1" };
    expect(load({ file: { upstreams: [open] } }).warnings.at(-1)).toContain("without encryption");
  });
});
