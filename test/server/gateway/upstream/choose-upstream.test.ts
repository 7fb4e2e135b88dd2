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
  test("the longest matching prefix chooses the upstream and is removed", () => {
    expect(nameFor("openrouter/meta/llama", "openai-chat")).toEqual(["router", "meta/llama"]);
    expect(nameFor("openrouter/special/llama", "openai-chat")).toEqual(["special", "llama"]);
    expect(nameFor("openrouter/claude", "anthropic")).toEqual(["router", "claude"]);
  });

  test("without a prefix, the upstream that lists the model or its beginning is chosen", () => {
    expect(nameFor("gemini-3-pro", "openai-chat")).toEqual(["google", "gemini-3-pro"]);
    expect(nameFor("learnlm", "openai-chat")).toEqual(["google", "learnlm"]);
    expect(nameFor("learnlm-2", "openai-chat")).toEqual(["openai", "learnlm-2"]);
  });

  test("an upstream that lists a model's full name wins over an upstream that lists its beginning", () => {
    const own: Upstream = { ...google, name: "own", models: ["gemini-3-pro"] };
    const chosen = chooseUpstream([google, own], { api: "openai-chat", model: "gemini-3-pro" });
    expect(!chosen.fault && chosen.upstream.name).toBe("own");
  });

  test("for an unlisted model, the first upstream without a list of models is chosen", () => {
    expect(nameFor("gpt-5", "openai-chat")).toEqual(["openai", "gpt-5"]);
    expect(nameFor("claude-x", "anthropic")).toEqual(["anthropic", "claude-x"]);
    expect(nameFor(undefined, "openai-chat")).toEqual(["openai", undefined]);
  });

  test("if every upstream has a list, the first that speaks the API is chosen", () => {
    const chosen = chooseUpstream([google], { api: "openai-chat", model: "gpt-5" });
    expect(!chosen.fault && chosen.upstream.name).toBe("google");
  });

  test("a prefix with nothing after it is not a prefix", () => {
    expect(nameFor("openrouter/", "openai-chat")).toEqual(["openai", "openrouter/"]);
  });

  test("without an upstream for the API, the error says what to configure", () => {
    const { fault } = chooseUpstream([google], { api: "anthropic", model: "claude-x" });
    expect(fault).toMatchObject({ status: 404, kind: "not_found" });
    expect(fault?.message).toContain("google speaks openai-chat");
    expect(fault?.message).toContain('"apis":["anthropic"]');
    expect(fault?.message).toContain("ANTHROPIC_API_KEY");
  });

  test("a request goes to a configured upstream that speaks the API, whatever the model is called", () => {
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
