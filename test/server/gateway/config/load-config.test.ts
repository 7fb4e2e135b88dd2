import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLonghaulError } from "../../../../src/kernel/index.ts";
import {
  createToken,
  estimateTokenBits,
  MIN_TOKEN_BITS,
} from "../../../../src/server/gateway/config/access-token.ts";
import { getConfigSchemaJson } from "../../../../src/server/gateway/config/config.ts";
import { type ConfigRequest, loadConfig } from "../../../../src/server/gateway/config/load-config.ts";
import { testFolder } from "../../../support/folder.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";

function load(file?: unknown, request: Partial<ConfigRequest> = {}) {
  const store = testFolder();
  if (file !== undefined) writeOwn(join(store, "longhaul.json"), JSON.stringify(file));
  return loadConfig({ cwd: testFolder(), store, env: {}, flags: {}, ...request });
}

/** Writes a file with the permissions of a private configuration, whatever the umask. */
function writeOwn(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
}

function refusal(file?: unknown, request: Partial<ConfigRequest> = {}): string {
  try {
    load(file, request);
  } catch (error) {
    if (isLonghaulError(error, "CONFIG_INVALID")) return error.message;
    throw error;
  }
  throw new Error("it was taken");
}

describe("a configuration", () => {
  test("a configuration is complete without a file, a variable or an option", () => {
    const { config, warnings, sources, path } = load();
    expect(config).toMatchObject({
      host: "127.0.0.1",
      port: 4747,
      policy: "longhaul",
      threshold: 80,
      dryRun: false,
    });
    expect(config.tokens).toEqual([]);
    expect(config.upstreams.map(({ name }) => name)).toEqual([
      "anthropic",
      "openai",
      "chatgpt",
      "gemini",
      "vertex",
    ]);
    expect(warnings).toEqual([]);
    expect(new Set(Object.values(sources))).toEqual(new Set(["defaults"]));
    expect(path).toBeUndefined();
  });

  test("options override variables, variables override the file, and the file overrides defaults", () => {
    const file = { port: 1, threshold: 50, policy: "cline", log: { content: true } };
    const env = {
      LONGHAUL_PORT: "2",
      LONGHAUL_THRESHOLD: "60",
      LONGHAUL_LOG: "debug",
      LONGHAUL_DRY_RUN: "1",
    };
    const { config, sources } = load(file, { env, flags: { port: "3", recall: "tools", redact: true } });
    expect(config).toMatchObject({ port: 3, threshold: 60, policy: "cline", dryRun: true, redact: true });
    expect(config.log).toEqual({ level: "debug", content: true });
    expect(config.recall).toEqual({ offer: "always", context: false });
    expect(sources).toMatchObject({
      port: "flags",
      threshold: "environment",
      policy: "file",
      host: "defaults",
    });
  });

  test("the configuration lies in the store's folder, and a named file replaces it", () => {
    const [cwd, store] = [testFolder(), testFolder()];
    writeOwn(join(store, "longhaul.gateway.json"), '{"port":1}');
    expect(load(undefined, { cwd, store }).config.port).toBe(1);
    writeOwn(join(cwd, "mine.json"), '{"port":3}');
    expect(load(undefined, { cwd, store, path: "mine.json" }).config.port).toBe(3);
    const env = { LONGHAUL_CONFIG: "mine.json" };
    expect(load(undefined, { cwd, store, env }).config.port).toBe(3);
    writeOwn(join(cwd, "other.json"), '{"port":4}');
    expect(load(undefined, { cwd, store, env, path: "other.json" }).config.port).toBe(4);
  });

  test("an unreadable configuration file gets an error with its name and the reason", () => {
    const cwd = testFolder();
    expect(refusal(undefined, { cwd, path: "none.json" })).toContain(
      "none.json cannot be read: there is no such file",
    );
    writeOwn(join(cwd, "bad.json"), '{"port": }');
    expect(refusal(undefined, { cwd, path: "bad.json" })).toContain("it is no JSON");
    mkdirSync(join(cwd, "folder.json"));
    expect(refusal(undefined, { cwd, path: "folder.json" })).toContain("EISDIR");
    expect(refusal([1])).toContain("no JSON object");
  });

  test("an invalid configuration is refused with all problems: key, value, remedy and nearest name", () => {
    const message = refusal(
      {
        prot: 1,
        threshold: 3,
        policy: "longhual",
        upstreams: [
          { name: "a", baseUrl: "https://a", apis: ["anthropic"] },
          { name: "b", baseUrl: "ftp://b", apis: [] },
        ],
        routes: { openai: {} },
        limits: { maxBodyByte: 1 },
      },
      { env: { LONGHAUL_PORT: "many" }, flags: { recall: "yes", log: "loud" } },
    );
    expect(message).toContain("10 problems");
    for (const line of [
      'there is no setting "prot"; did you mean port?',
      "threshold is 3; expected a whole number from 5 to 100",
      'policy is "longhual"; expected one of longhaul, none, cline',
      'upstreams[1].baseUrl is "ftp://b"; expected an address',
      "upstreams[1].apis is an empty list; expected at least one of anthropic",
      'routes has no setting "openai"; there are anthropic, openai-chat, openai-responses',
      'limits has no setting "maxBodyByte"; did you mean maxBodyBytes?',
      'LONGHAUL_PORT is "many"; expected a whole number from 0 to 65535',
      '--recall is "yes"; expected one of start, edit, never, always, all, off, after-edit, none, tools, context',
      '--log is "loud"; expected one of silent, error, info, debug',
    ])
      expect(message).toContain(line);
  });

  test("no error repeats a secret that was written into the configuration", () => {
    const secret = "hunter2-hunter2-hunter2";
    const file = {
      tokens: [
        { name: "a", env: secret },
        { name: "b", token: secret },
        { name: "c", sha256: secret },
      ],
      upstreams: [{ name: "x", baseUrl: `https://me:${secret}@host`, apis: ["anthropic"], key: secret }],
    };
    const message = refusal(file);
    expect(message).not.toContain(secret);
    expect(message).toContain("Secrets are never written here");
    expect(refusal({ tokens: [{ name: "a", env: secret }] })).not.toContain(secret);
  });

  sizedTest("every valid setting of the file takes effect unchanged", () => {
    const valid = fc.record(
      {
        port: fc.integer({ min: 0, max: 65_535 }),
        threshold: fc.integer({ min: 5, max: 100 }),
        dryRun: fc.boolean(),
        redact: fc.boolean(),
        policy: fc.constantFrom("longhaul", "none", "cline", "roo"),
        recall: fc.record({ offer: fc.constantFrom("start", "edit", "never"), context: fc.boolean() }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(valid, (file) => {
        expect(load(file).config).toMatchObject(file);
      }),
      { numRuns: proofRounds(30) },
    );
  });

  sizedTest("a configuration is accepted or refused with a reason, whatever the file holds", () => {
    const anything = fc.dictionary(
      fc.constantFrom(
        ...Object.keys((getConfigSchemaJson() as { properties: object }).properties),
        "__proto__",
        "other",
      ),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(anything, (file) => {
        try {
          load(file);
        } catch (error) {
          expect(isLonghaulError(error, "CONFIG_INVALID"), String(error)).toBe(true);
          expect(String(error)).not.toContain("Invalid input");
        }
      }),
      { numRuns: proofRounds(150) },
    );
  });
});

describe("a token", () => {
  const strong = createToken();

  test("the token in LONGHAUL_TOKEN counts in addition to the tokens of the file", () => {
    expect(load({}, { env: { LONGHAUL_TOKEN: strong } }).config.tokens).toEqual([
      { name: "default", env: "LONGHAUL_TOKEN" },
    ]);
    const file = {
      tokens: [
        { name: "ci", sha256: "ab".repeat(32) },
        { name: "me", env: "MINE" },
      ],
    };
    const { config } = load(file, { env: { LONGHAUL_TOKEN: strong, MINE: createToken() } });
    expect(config.tokens.map(({ name }) => name)).toEqual(["ci", "me", "default"]);
  });

  test("a gateway that others can reach needs a token", () => {
    for (const host of ["0.0.0.0", "::", "192.168.1.5", "box.example"])
      expect(refusal({ host })).toContain(`host is "${host}", which others can reach, and there is no token`);
    for (const host of ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
      expect(load({ host }).config.host).toBe(host);
    expect(load({ host: "0.0.0.0" }, { env: { LONGHAUL_TOKEN: strong } }).config.host).toBe("0.0.0.0");
  });

  test.each([
    ["short", "too easy to guess"],
    ["a".repeat(64), "too easy to guess"],
    ["0123456789".repeat(3), "too easy to guess"],
    ["0123456789abcdef0123456789abcde", "too easy to guess"],
    [`${"x".repeat(10)} ${strong}`, "cannot stand in a header"],
  ])("the token %j is refused", (token, why) => {
    expect(refusal({}, { env: { LONGHAUL_TOKEN: token } })).toContain(why);
  });

  test.each(["0123456789abcdeffedcba9876543210", "kR4vQ_9-zTqLw2XyB7mNpA", strong])(
    "the token %j is strong enough",
    (token) => {
      expect(load({}, { env: { LONGHAUL_TOKEN: token } }).config.tokens).toHaveLength(1);
    },
  );

  test("a token whose variable is not set, or that names two secrets or none, is refused", () => {
    expect(refusal({ tokens: [{ name: "a", env: "NOT_SET" }] })).toContain(
      "tokens[0].env names NOT_SET, which is not set",
    );
    expect(refusal({ tokens: [{ name: "a" }] })).toContain("tokens[0] needs either env");
    const both = { name: "a", env: "A", sha256: "ab".repeat(32) };
    expect(refusal({ tokens: [both] }, { env: { A: strong } })).toContain("tokens[0] needs either env");
    const twice = [
      { name: "a", sha256: "ab".repeat(32) },
      { name: "a", sha256: "cd".repeat(32) },
    ];
    expect(refusal({ tokens: twice })).toContain('tokens[1].name is "a", as tokens[0].name is');
  });
});

describe("recall", () => {
  test("recall is set by one word or an object, including the earlier form of the object", () => {
    const recallOf = (recall?: unknown) => load(recall === undefined ? {} : { recall }).config.recall;
    expect(recallOf()).toEqual({});
    for (const word of ["start", "edit", "never", "always"]) {
      expect(recallOf(word)).toEqual({ offer: word });
      expect(recallOf({ offer: word })).toEqual({ offer: word });
    }
    expect(recallOf("off")).toEqual({ offer: "never" });
    expect(recallOf({ tools: "after-edit" })).toEqual({ offer: "edit" });
    expect(recallOf({ tools: true })).toEqual({ offer: "always" });
    expect(recallOf({ tools: false, context: true })).toEqual({ offer: "never", context: true });
    expect(refusal({ recall: "sometimes" })).toContain("expected start, edit, never, always, or an object");
    const { routes } = load({ routes: { anthropic: { recall: "off" } } }).config;
    expect(routes.anthropic?.recall).toEqual({ offer: "never" });
  });
});

describe("the schema", () => {
  test("the schema for editors knows every setting", () => {
    const { properties } = getConfigSchemaJson() as { properties: Record<string, object> };
    const withoutDefault = ["$schema", "store", "publicUrl", "oidc", "redact"];
    expect(Object.keys(properties).toSorted()).toEqual(
      [...withoutDefault, ...Object.keys(load().config)].toSorted(),
    );
    expect(properties.port).toMatchObject({ type: "integer", minimum: 0, maximum: 65_535, default: 4747 });
  });
});

test("a token of repeated parts or of a few words counts as weak", () => {
  expect(estimateTokenBits("secret-api-key-secret-api-key")).toBeLessThan(MIN_TOKEN_BITS);
  expect(estimateTokenBits("my-very-long-token-for-the-gateway")).toBeLessThan(MIN_TOKEN_BITS);
  expect(estimateTokenBits("0a1b2c3d4e5f".repeat(4))).toBeLessThan(MIN_TOKEN_BITS);
  for (let index = 0; index < 100; index++)
    expect(estimateTokenBits(createToken())).toBeGreaterThan(MIN_TOKEN_BITS);
});
