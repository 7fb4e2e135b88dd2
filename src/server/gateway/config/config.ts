import { z } from "zod";
import { SHRINK_FILTERS } from "../../../kernel/faces/window.ts";
import { DEFAULT_THRESHOLD } from "../../../model/default-threshold.ts";
import {
  API_NAMES,
  addressSchema,
  flagSchema,
  millisecondsSchema,
  nameSchema,
  oneOfSchema,
  originSchema,
  policyNameSchema,
  providerSchema,
  shareSchema,
  storeUrlSchema,
  textListSchema,
  textSchema,
  wholeSchema,
} from "./schema-values.ts";

const MIB = 1_024 * 1_024;
const bytes = (max: number) => wholeSchema(1_024, max, "(bytes)");

/** Limits on memory, sizes, connections and waiting times. */
const limitsSchema = z
  .strictObject(
    {
      maxBodyBytes: bytes(1_024 * MIB)
        .default(64 * MIB)
        .describe("maximum size of a request"),
      maxHeldBytes: bytes(64 * 1_024 * MIB)
        .default(256 * MIB)
        .describe("maximum bytes of all requests in progress; further large ones wait"),
      maxHeaderBytes: bytes(MIB)
        .default(64 * 1_024)
        .describe("maximum size of a request head"),
      headersMs: millisecondsSchema()
        .default(15_000)
        .describe("maximum time to receive the head of a request"),
      bodyMs: millisecondsSchema().default(120_000).describe("maximum time to receive a whole request"),
      connectMs: millisecondsSchema().default(10_000).describe("maximum time to connect to an upstream"),
      firstByteMs: millisecondsSchema()
        .default(900_000)
        .describe("maximum time until an upstream begins to reply"),
      idleMs: millisecondsSchema().default(300_000).describe("maximum silence within a reply"),
      keepAliveMs: millisecondsSchema().default(65_000).describe("time before an idle connection is closed"),
      drainMs: millisecondsSchema()
        .default(30_000)
        .describe("maximum time for open requests to finish on shutdown"),
      maxConnections: wholeSchema(1, 1_000_000).default(4_096).describe("maximum simultaneous connections"),
      maxPersonRequests: wholeSchema(1, 1_000_000)
        .default(256)
        .describe(
          "maximum requests in progress of one person with a token, at most a quarter of maxConnections",
        ),
      maxPersonStreams: wholeSchema(1, 1_000_000)
        .default(32)
        .describe("maximum open event streams of one person with a token"),
      maxPersonBytes: bytes(1_024 * 1_024 * MIB)
        .default(1_024 * MIB)
        .describe(
          "maximum bytes that one person with a token stores in a day, through the API and by new messages of conversations",
        ),
      maxThreads: wholeSchema(1, 1_000_000)
        .default(1_000)
        .describe("maximum conversations in memory; name tables are sized accordingly"),
      maxThreadBytes: bytes(64 * 1_024 * MIB)
        .default(64 * MIB)
        .describe("maximum bytes of memory for all of them together"),
    },
    { error: "an object" },
  )
  .prefault({})
  .describe("limits");

const PRICE = "US dollars per million tokens";
const price = () => z.number({ error: PRICE }).min(0, { error: PRICE }).exactOptional();
const tokens = () => wholeSchema(1, 1_000_000_000, "(tokens)");

/** Overrides of model facts, by model id or by a prefix of ids followed by "*". */
const modelsSchema = z
  .record(
    z.string().regex(/^[^*]+\*?$|^\*$/, { error: 'a model id, or the beginning of ids followed by "*"' }),
    z.strictObject(
      {
        window: tokens().describe("tokens of prompt and output together").exactOptional(),
        maxOutput: tokens().describe("maximum tokens of a reply").exactOptional(),
        prices: z
          .strictObject(
            {
              input: price(),
              output: price(),
              cacheRead: price(),
              cacheWrite: price(),
              cacheWriteHour: price(),
            },
            { error: "an object" },
          )
          .describe(PRICE)
          .exactOptional(),
        thinking: z.enum(["bound", "whole", "free"]).describe("demand on reasoning").exactOptional(),
        threshold: wholeSchema(5, 100, "(percent)").describe("instead of `threshold`").exactOptional(),
        reserveTokens: wholeSchema(0, 1_000_000_000, "(tokens)")
          .describe("tokens reserved for the reply")
          .exactOptional(),
        maxMessages: wholeSchema(2, 1_000_000_000).describe("maximum messages in a window").exactOptional(),
        maxTurns: wholeSchema(1, 1_000_000_000).describe("turns between two summaries").exactOptional(),
        policy: policyNameSchema().describe("instead of `policy`").exactOptional(),
      },
      { error: "an object" },
    ),
    { error: "an object by model id" },
  )
  .default({})
  .describe("your own facts about models");

const MB = 1_000_000;

const retentionLimits = {
  maxAgeDays: wholeSchema(1, 36_500, "(days)")
    .describe("conversations unused for longer are due")
    .exactOptional(),
  maxBytes: wholeSchema(1, Number.MAX_SAFE_INTEGER, "(bytes)")
    .describe("if all conversations are larger together, the longest unused are due")
    .exactOptional(),
};

/** Rules for `longhaul retention`; the gateway itself deletes no conversation. */
const retentionSchema = z
  .strictObject(
    {
      ...retentionLimits,
      agents: z
        .record(z.string(), z.strictObject(retentionLimits, { error: "an object" }), {
          error: "an object by agent",
        })
        .default({})
        .describe("other limits for the conversations of one agent"),
      people: z
        .record(z.string(), z.strictObject(retentionLimits, { error: "an object" }), {
          error: "an object by person",
        })
        .default({})
        .describe("other limits for the conversations of one person"),
    },
    { error: "an object" },
  )
  .prefault({})
  .describe("rules for longhaul retention");

/** Settings of the monitor. */
const monitorSchema = z
  .strictObject(
    {
      enabled: flagSchema().default(true).describe("measure memory and relieve pressure"),
      intervalMs: wholeSchema(100, 86_400_000, "(milliseconds)")
        .default(30_000)
        .describe("time between two measurements"),
      warningBytes: wholeSchema(1_000_000, Number.MAX_SAFE_INTEGER, "(bytes)")
        .default(500 * MB)
        .describe("memory of the process at which a warning is given"),
      criticalBytes: wholeSchema(1_000_000, Number.MAX_SAFE_INTEGER, "(bytes)")
        .default(1_000 * MB)
        .describe("memory of the process at which caches are dropped"),
      heapSnapshots: wholeSchema(0, 10)
        .default(0)
        .describe(
          "heap snapshots that are kept in the store's folder, one for each critical state; 0 for none",
        ),
    },
    { error: "an object" },
  )
  .prefault({})
  .describe("memory monitor");

/** Schema of the filters that shorten tool results: all on, all off, or single ones off by name. */
function shrinkSchema() {
  const names = SHRINK_FILTERS.join(", ");
  return z.union(
    [
      z.boolean(),
      z.strictObject(Object.fromEntries(SHRINK_FILTERS.map((name) => [name, z.boolean().optional()]))),
    ],
    { error: `true, false, or an object with true or false by ${names}` },
  );
}

/** Configuration of one upstream. */
const upstreamSchema = z.strictObject(
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

/** When the gateway offers its recall tools to a model; `always` also to clients without tools. */
const RECALL_OFFERS = ["start", "edit", "never", "always"] as const;

export type RecallOffer = (typeof RECALL_OFFERS)[number];

/** The values of `recall.tools`, the earlier name of `recall.offer`. */
const FORMER_OFFERS = { off: "never", "after-edit": "edit", always: "always" } as const;
const FORMER_WORDS = ["off", "after-edit", "always"] as const;
const RECALL_WORDS = [...RECALL_OFFERS, "off", "after-edit"];

const FORM = `${RECALL_OFFERS.join(", ")}, or an object`;
/** JSON Schema of a setting that is one word or an object. */
const WORD_OR_OBJECT = { type: ["object", "string"], pattern: `^(${RECALL_WORDS.join("|")})$` };
const WORD_OR_FLAG = { type: ["string", "boolean"], enum: [...FORMER_WORDS, true, false] };

/** A word of `recall.tools`; still earlier configurations have true and false. */
const toolsSchema = () =>
  z.preprocess(
    (given) => (typeof given === "boolean" ? (given ? "always" : "off") : given),
    oneOfSchema(FORMER_WORDS).meta(WORD_OR_FLAG),
  );

/** One word sets only the offer. */
function toRecallObject(given: unknown): unknown {
  if (RECALL_OFFERS.some((word) => word === given)) return { offer: given };
  return FORMER_WORDS.some((word) => word === given) ? { tools: given } : given;
}

const recallSchema = () =>
  z.preprocess(
    toRecallObject,
    z
      .strictObject(
        {
          offer: oneOfSchema(RECALL_OFFERS)
            .describe(
              "when the model is offered recall tools, which the gateway runs itself: start of a conversation, first edit, or never; by default with the first edit or the first request of 50,000 tokens that the provider's cache does not hold",
            )
            .exactOptional(),
          tools: toolsSchema().describe("earlier name of `offer`").exactOptional(),
          context: flagSchema().describe("add content that matches the question after it").exactOptional(),
        },
        { error: FORM },
      )
      .meta(WORD_OR_OBJECT)
      .transform(({ offer, tools, context }) => ({
        offer: offer ?? (tools && FORMER_OFFERS[tools]),
        context,
      })),
  );

const VARIABLE = "the name of an environment variable";

const tokenSchema = z.strictObject(
  {
    name: nameSchema().describe(
      "the person who uses the token: owns its sessions, even after the token is replaced; not secret",
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

const oidcSchema = z.strictObject(
  {
    issuer: providerSchema().describe("address of the provider, as in its own description"),
    clientId: textSchema("the id of this gateway at the provider").describe("id of this gateway there"),
    clientSecretEnv: textSchema(VARIABLE)
      .describe("environment variable that contains the client's secret; none for a public client")
      .exactOptional(),
    title: textSchema("a name for the button").default("OpenID Connect").describe("its name on the button"),
    claim: textSchema("the name of a claim")
      .default("email")
      .describe("claim that names the person; an e-mail address must be verified"),
    scopes: textListSchema("a scope").default(["openid", "email"]).describe("scopes to ask for"),
    join: textListSchema("a name, or *@ and a domain")
      .default([])
      .describe("members who may join by themselves: names, or *@ and a domain; others are added first"),
    sessionHours: wholeSchema(1, 720, "(hours)")
      .default(12)
      .describe("time after which people sign in again"),
  },
  { error: "an object" },
);

const routeSchema = z.strictObject(
  {
    policy: policyNameSchema().describe("instead of `policy`").exactOptional(),
    recall: recallSchema().describe("instead of `recall`").exactOptional(),
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
    publicUrl: originSchema()
      .describe("address at which people and agents reach the gateway, if it is not `host` and `port`")
      .exactOptional(),
    team: flagSchema()
      .default(false)
      .describe(
        "admit only people of the store (longhaul token add) and `tokens`, even while there are none",
      ),
    oidc: oidcSchema
      .describe(
        "people sign in to the dashboard at this OpenID Connect provider; needs `publicUrl` or a loopback host",
      )
      .exactOptional(),
    alerts: z
      .strictObject(
        {
          webhook: addressSchema()
            .describe("address that gets a POST with JSON when 80 % of a budget is used, once in its period")
            .exactOptional(),
        },
        { error: "an object" },
      )
      .prefault({})
      .describe("messages about budgets, next to the log and the metrics"),
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
    memoryTool: oneOfSchema(["pass", "serve"])
      .default("pass")
      .describe(
        "serve answers calls of Anthropic's memory tool from the person's memories, so that all clients share them; pass leaves them to the client",
      ),
    cache: z
      .strictObject(
        {
          ttl: oneOfSchema(["client", "auto", "5m", "1h"])
            .default("client")
            .describe(
              "lifetime of Anthropic's cache: that of the client, always 5m or 1h, or auto: the cheaper one by your own pauses",
            ),
          keepAlive: flagSchema()
            .default(false)
            .describe(
              "send the last request of an idle conversation again before its cache expires, while that is expected to save more than it costs",
            ),
          maxKeepAliveDollars: z
            .number({ error: "US dollars a day" })
            .min(0, { error: "US dollars a day" })
            .default(1)
            .describe("maximum dollars a day for keepAlive"),
        },
        { error: "an object" },
      )
      .prefault({})
      .describe("prompt caches of providers"),
    redact: flagSchema()
      .describe("remove secrets from stored content; default: true where several people use the gateway")
      .exactOptional(),
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
