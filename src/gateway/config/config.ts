import { z } from "zod";
import { DEFAULT_THRESHOLD } from "../../model/default-threshold.ts";
import { limitsSchema } from "./limits-schema.ts";
import { modelsSchema } from "./models-schema.ts";
import { monitorSchema, retentionSchema } from "./operations-schema.ts";
import { recallSchema, routeRecallSchema } from "./recall-schema.ts";
import {
  API_NAMES,
  addressSchema,
  flagSchema,
  millisecondsSchema,
  nameSchema,
  oneOfSchema,
  policyNameSchema,
  shareSchema,
  storeUrlSchema,
  textListSchema,
  textSchema,
  wholeSchema,
} from "./schema-values.ts";
import { shrinkSchema } from "./shrink-schema.ts";
import { upstreamSchema } from "./upstream-schema.ts";

const VARIABLE = "the name of an environment variable";

const tokenSchema = z.strictObject(
  {
    name: nameSchema().describe(
      "the person who uses the token: owns its sessions, also after the token is replaced; not secret",
    ),
    env: textSchema(VARIABLE).describe("environment variable that contains the token").exactOptional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/i, { error: "64 hexadecimal digits" })
      .describe("or the SHA-256 of the token, in hexadecimal digits")
      .exactOptional(),
    passthrough: flagSchema()
      .describe(
        "allow access to everything the provider stores under the gateway's key: files, batches, lists",
      )
      .exactOptional(),
    role: oneOfSchema(["member", "admin"])
      .describe("member (default): own conversations only; admin: everything, people and budgets")
      .exactOptional(),
  },
  { error: "an object" },
);

const routeSchema = z.strictObject(
  {
    policy: policyNameSchema().describe("instead of `policy`").exactOptional(),
    recall: routeRecallSchema().describe("instead of `recall`").exactOptional(),
  },
  { error: "an object" },
);

/** All settings with their defaults; each error message states the expected value. */
export const configSchema = z.strictObject(
  {
    $schema: textSchema("an address").describe("address of the schema, for editors").exactOptional(),
    store: storeUrlSchema()
      .describe(
        "URL of a PostgreSQL database, without a password; without it, the store is the file's folder",
      )
      .exactOptional(),
    host: textSchema("an address or name to listen on").default("127.0.0.1").describe("address to listen on"),
    port: wholeSchema(0, 65_535).default(4747).describe("port to listen on; 0 picks a free port"),
    tokens: z
      .array(tokenSchema, { error: "a list of objects" })
      .default([])
      .describe("tokens that grant access; without any, everyone who reaches the address has access"),
    team: flagSchema()
      .default(false)
      .describe(
        "admit only people of the store (longhaul token add) and `tokens`, even while there are none",
      ),
    allowedHosts: textListSchema("a host name, with :port where it has one")
      .default([])
      .describe("names accepted in the Host header, in addition to loopback and `host`"),
    allowedOrigins: textListSchema("an origin as https://tool.example")
      .default([])
      .describe("other origins whose pages may call the gateway from a browser"),
    upstreams: z
      .array(upstreamSchema, { error: "a list of objects" })
      .min(1, { error: "at least one upstream" })
      .describe("destinations of requests; a list here replaces the default ones"),
    policy: policyNameSchema().default("longhaul").describe("window policy; none leaves requests unchanged"),
    dryRun: flagSchema().default(false).describe("plan and report edits, change nothing"),
    threshold: wholeSchema(5, 100, "(percent)")
      .default(DEFAULT_THRESHOLD)
      .describe(
        "fill level of the client's window, in percent, from which tool output leaves at the latest; words stay until the window is full",
      ),
    when: oneOfSchema(["early", "late"])
      .default("early")
      .describe("early removes tool output as soon as that pays; late only at `threshold`"),
    paging: flagSchema()
      .default(true)
      .describe("return removed content to the window when the newest message asks for it"),
    control: shareSchema()
      .default(0)
      .describe(
        "share of new conversations that are logged and never edited, to measure savings; 0 for none",
      ),
    shrink: shrinkSchema()
      .default(true)
      .describe("shorten tool results when they first appear; an object turns single filters off"),
    routes: z
      .partialRecord(z.enum(API_NAMES), routeSchema, { error: `an object by ${API_NAMES.join(", ")}` })
      .default({})
      .describe("other settings for one API"),
    recall: recallSchema().prefault({}).describe("recall for agents without longhaul support"),
    memories: flagSchema()
      .default(true)
      .describe("show a person's memories to that person's agents, at the end of the system prompt"),
    redact: flagSchema().default(false).describe("remove secrets from stored content"),
    models: modelsSchema,
    limits: limitsSchema,
    monitor: monitorSchema,
    retention: retentionSchema,
    breaker: z
      .strictObject(
        {
          requests: wholeSchema(1, 1_000_000)
            .default(100)
            .describe("identical requests of a session before it is stopped"),
          compactions: wholeSchema(1, 1_000_000)
            .default(5)
            .describe("compactions in a row before they are stopped"),
          overflows: wholeSchema(1, 1_000_000)
            .default(4)
            .describe("overflow errors in a row that a client gets before it is stopped"),
          withinMs: millisecondsSchema()
            .default(600_000)
            .describe("period in which requests, compactions and overflows are counted"),
          coolMs: millisecondsSchema().default(60_000).describe("duration of a stop"),
        },
        { error: "an object" },
      )
      .prefault({})
      .describe("limits that stop runaway loops"),
    log: z
      .strictObject(
        {
          level: oneOfSchema(["silent", "error", "info", "debug"]).default("info").describe("log level"),
          content: flagSchema().default(false).describe("include the content of messages"),
        },
        { error: "an object" },
      )
      .prefault({})
      .describe("logging"),
    telemetry: z
      .strictObject(
        {
          endpoint: addressSchema()
            .describe("address that receives spans (OTLP over HTTP); without it, none are sent")
            .exactOptional(),
          content: flagSchema().default(false).describe("include the content of messages"),
          metrics: flagSchema()
            .default(false)
            .describe("send the numbers of the memory monitor to the same address too"),
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
export function getConfigSchemaJson(): object {
  return { title: "longhaul gateway", ...z.toJSONSchema(configSchema, { io: "input" }) };
}
