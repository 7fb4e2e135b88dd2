import { z } from "zod";
import {
  API_NAMES,
  addressSchema,
  oneOfSchema,
  textListSchema,
  textSchema,
  wholeSchema,
} from "./schema-values.ts";

/** Configuration of one upstream. */
export const upstreamSchema = z.strictObject(
  {
    name: textSchema("a name").describe("name in logs and in /api/v1/gateway"),
    baseUrl: addressSchema().describe("its address; may end in /v1 or another version"),
    apis: z
      .array(oneOfSchema(API_NAMES), { error: `a list of ${API_NAMES.join(", ")}` })
      .min(1, { error: `at least one of ${API_NAMES.join(", ")}` })
      .describe("APIs that it supports"),
    prefix: textSchema("the beginning of model names, as openrouter/")
      .describe("requests for models with this prefix go here; the prefix is removed")
      .exactOptional(),
    models: textListSchema("a model, or the beginning of names followed by *")
      .describe("models served here: names, or prefixes that end in *")
      .exactOptional(),
    keyEnv: textSchema("the name of an environment variable")
      .describe("environment variable that contains its key; if not set, the client's own key is used")
      .exactOptional(),
    window: wholeSchema(1_000, 100_000_000, "(tokens)")
      .describe("window that it enforces, if smaller than the model's")
      .exactOptional(),
    contextManagement: oneOfSchema(["upstream", "gateway"])
      .describe("executor of `context_management`: upstream for Anthropic's own API, otherwise gateway")
      .exactOptional(),
  },
  { error: "an object" },
);
