import { z } from "zod";
import { limitsSchema } from "./limits.ts";
import { modelsSchema } from "./models.ts";
import { upstreamSchema } from "./upstream.ts";
import { API_NAMES, address, flag, milliseconds, oneOf, policyName, text, texts, whole } from "./values.ts";

const VARIABLE = "the name of an environment variable";

const tokenSchema = z.strictObject(
  {
    name: text("a name for whoever uses the token").describe("who uses it; shown, and not secret"),
    env: text(VARIABLE).describe("the variable that holds it").exactOptional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/i, { error: "64 hexadecimal digits" })
      .describe("or its SHA-256, in hexadecimal digits")
      .exactOptional(),
    passthrough: flag()
      .describe("may use all that the provider keeps under the gateway's key: files, batches, lists")
      .exactOptional(),
  },
  { error: "an object" },
);

const recallSchema = z.strictObject(
  {
    tools: flag()
      .default(false)
      .describe("give the model tools to recall, which the gateway carries out itself"),
    context: flag().default(false).describe("put what fits the question behind it"),
  },
  { error: "an object" },
);

const routeSchema = z.strictObject(
  {
    policy: policyName().describe("instead of `policy`").exactOptional(),
    recall: z
      .strictObject(
        { tools: flag().exactOptional(), context: flag().exactOptional() },
        { error: "an object" },
      )
      .describe("instead of `recall`")
      .exactOptional(),
  },
  { error: "an object" },
);

/** All settings with their defaults; each error message states the expected value. */
export const configSchema = z.strictObject(
  {
    $schema: text("an address").describe("where editors find the schema").exactOptional(),
    host: text("an address or name to listen on").default("127.0.0.1").describe("address to listen on"),
    port: whole(0, 65_535).default(4747).describe("port to listen on; 0 takes any that is free"),
    tokens: z
      .array(tokenSchema, { error: "a list of objects" })
      .default([])
      .describe("who may come in; without any, everyone who reaches the address"),
    allowedHosts: texts("a host name, with :port where it has one")
      .default([])
      .describe("names in the Host header besides loopback and `host`"),
    allowedOrigins: texts("an origin as https://tool.example")
      .default([])
      .describe("pages of other origins that may call from a browser"),
    upstreams: z
      .array(upstreamSchema, { error: "a list of objects" })
      .min(1, { error: "at least one upstream" })
      .describe("where requests go; a list here replaces the usual ones"),
    policy: policyName().default("longhaul").describe("what edits the window; none leaves requests alone"),
    dryRun: flag().default(false).describe("plan and report edits, change nothing"),
    threshold: whole(5, 100, "(percent)")
      .default(75)
      .describe("percent of the client's window from which on it is edited at the latest"),
    paging: flag()
      .default(true)
      .describe("bring back what has left a window when the newest message asks for it"),
    routes: z
      .partialRecord(z.enum(API_NAMES), routeSchema, { error: `an object by ${API_NAMES.join(", ")}` })
      .default({})
      .describe("other settings for one API"),
    recall: recallSchema.prefault({}).describe("what is recalled for agents that know nothing of us"),
    redact: flag().default(false).describe("take secrets out of what is stored"),
    models: modelsSchema,
    limits: limitsSchema,
    breaker: z
      .strictObject(
        {
          requests: whole(1, 1_000_000)
            .default(100)
            .describe("like requests of one session before it is stopped"),
          compactions: whole(1, 1_000_000)
            .default(5)
            .describe("compactions in a row before they are stopped"),
          overflows: whole(1, 1_000_000)
            .default(4)
            .describe("overflow errors in a row that a client gets before it is stopped"),
          withinMs: milliseconds().default(600_000).describe("that come within this time"),
          coolMs: milliseconds().default(60_000).describe("how long it stays stopped"),
        },
        { error: "an object" },
      )
      .prefault({})
      .describe("what stops runaway loops"),
    log: z
      .strictObject(
        {
          level: oneOf(["silent", "error", "info", "debug"]).default("info").describe("how much is told"),
          content: flag().default(false).describe("also what was said"),
        },
        { error: "an object" },
      )
      .prefault({})
      .describe("what is logged"),
    telemetry: z
      .strictObject(
        {
          endpoint: address().describe("where spans go (OTLP over HTTP); none without it").exactOptional(),
          content: flag().default(false).describe("also what was said"),
        },
        { error: "an object" },
      )
      .prefault({})
      .describe("OpenTelemetry"),
  },
  { error: "a JSON object" },
);

type Frozen<T> = T extends readonly unknown[] | object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/** The complete settings of the gateway. */
export type GatewayConfig = Frozen<Omit<z.output<typeof configSchema>, "$schema">>;

/** A destination for requests. */
export type UpstreamConfig = GatewayConfig["upstreams"][number];

/** A token that grants access, named by where its secret is. */
export type TokenConfig = GatewayConfig["tokens"][number];

/** The JSON Schema of the configuration file, for editors. */
export function configSchemaJson(): object {
  return { title: "longhaul gateway", ...z.toJSONSchema(configSchema, { io: "input" }) };
}
