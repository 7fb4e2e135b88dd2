import { z } from "zod";
import { API_NAMES, address, oneOf, text, texts, whole } from "./values.ts";

/** Configuration of one upstream. */
export const upstreamSchema = z.strictObject(
  {
    name: text("a name").describe("what it is called in logs and on the status page"),
    baseUrl: address().describe("its address; may end in /v1 or another version"),
    apis: z
      .array(oneOf(API_NAMES), { error: `a list of ${API_NAMES.join(", ")}` })
      .min(1, { error: `at least one of ${API_NAMES.join(", ")}` })
      .describe("the APIs that it speaks"),
    prefix: text("the beginning of model names, as openrouter/")
      .describe("models that begin so go here; it is taken off")
      .exactOptional(),
    models: texts("a model, or the beginning of names followed by *")
      .describe("models that go here: names, or beginnings that end in *")
      .exactOptional(),
    keyEnv: text("the name of an environment variable")
      .describe("the variable that holds its key; while that is not set, the client's own goes through")
      .exactOptional(),
    window: whole(1_000, 100_000_000, "(tokens)")
      .describe("the window that it enforces, where that is smaller than the model's")
      .exactOptional(),
    contextManagement: oneOf(["upstream", "gateway"])
      .describe("who carries out `context_management`: upstream for Anthropic's own API, else gateway")
      .exactOptional(),
  },
  { error: "an object" },
);
