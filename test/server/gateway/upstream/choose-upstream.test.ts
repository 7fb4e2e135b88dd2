import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseUpstream, type Upstream } from "../../../../src/server/gateway/upstream/target.ts";

const anthropic: Upstream = { name: "anthropic", baseUrl: "https://api.anthropic.com", apis: ["anthropic"] };
const openai: Upstream = {
  name: "openai",
  baseUrl: "https://api.openai.com/v1",
  apis: ["openai-chat", "openai-responses"],
};
const google: Upstream = {
  name: "google",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
  apis: ["openai-chat"],
  models: ["gemini-*", "learnlm"],
};
const router: Upstream = {
  name: "router",
  baseUrl: "https://openrouter.ai/api/v1",
  apis: ["openai-chat", "anthropic"],
  prefix: "openrouter/",
};
const special: Upstream = { ...router, name: "special", prefix: "openrouter/special/" };
const all = [router, google, special, anthropic, openai];

const nameFor = (model: string | undefined, api: "anthropic" | "openai-chat" | "openai-responses") => {
  const chosen = chooseUpstream(all, { api, model });
  return chosen.fault ? chosen.fault.kind : [chosen.upstream.name, chosen.model];
};

describe("chooseUpstream", () => {
  test("the longest prefix decides, and is taken off", () => {
    expect(nameFor("openrouter/meta/llama", "openai-chat")).toEqual(["router", "meta/llama"]);
    expect(nameFor("openrouter/special/llama", "openai-chat")).toEqual(["special", "llama"]);
    expect(nameFor("openrouter/claude", "anthropic")).toEqual(["router", "claude"]);
  });

  test("then the upstream that lists the model, by name or beginning", () => {
    expect(nameFor("gemini-3-pro", "openai-chat")).toEqual(["google", "gemini-3-pro"]);
    expect(nameFor("learnlm", "openai-chat")).toEqual(["google", "learnlm"]);
    expect(nameFor("learnlm-2", "openai-chat")).toEqual(["openai", "learnlm-2"]);
  });

  test("a name in full wins over a beginning", () => {
    const own: Upstream = { ...google, name: "own", models: ["gemini-3-pro"] };
    const chosen = chooseUpstream([google, own], { api: "openai-chat", model: "gemini-3-pro" });
    expect(!chosen.fault && chosen.upstream.name).toBe("own");
  });

  test("then the first that asks for no models of its own", () => {
    expect(nameFor("gpt-5", "openai-chat")).toEqual(["openai", "gpt-5"]);
    expect(nameFor("claude-x", "anthropic")).toEqual(["anthropic", "claude-x"]);
    expect(nameFor(undefined, "openai-chat")).toEqual(["openai", undefined]);
  });

  test("then the first that speaks the API at all", () => {
    const chosen = chooseUpstream([google], { api: "openai-chat", model: "gpt-5" });
    expect(!chosen.fault && chosen.upstream.name).toBe("google");
  });

  test("a prefix with nothing after it is not a prefix", () => {
    expect(nameFor("openrouter/", "openai-chat")).toEqual(["openai", "openrouter/"]);
  });

  test("chooseUpstream says what to configure when nobody speaks the API", () => {
    const { fault } = chooseUpstream([google], { api: "anthropic", model: "claude-x" });
    expect(fault).toMatchObject({ status: 404, kind: "not_found" });
    expect(fault?.message).toContain("google speaks openai-chat");
    expect(fault?.message).toContain('"apis":["anthropic"]');
    expect(fault?.message).toContain("ANTHROPIC_API_KEY");
  });

  test("whatever the model is called, the request goes to a configured upstream that speaks the API", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.webUrl(), fc.constantFrom("http://evil.example/v1", "../../x")),
        fc.constantFrom("anthropic" as const, "openai-chat" as const, "openai-responses" as const),
        (model, api) => {
          const chosen = chooseUpstream(all, { api, model });
          if (chosen.fault) throw new Error(chosen.fault.message);
          expect(all).toContain(chosen.upstream);
          expect(chosen.upstream.apis).toContain(api);
          expect(model.endsWith(chosen.model ?? "?")).toBe(true);
        },
      ),
    );
  });
});
