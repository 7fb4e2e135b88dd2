import type { OptionSpecs, OptionValues } from "../command.ts";

export const SERVE_OPTIONS = {
  port: { type: "string", value: "PORT", help: "port to listen on (4747); 0 takes any that is free" },
  host: {
    type: "string",
    value: "HOST",
    help: "address to listen on (127.0.0.1); another one needs a token",
  },
  policy: {
    type: "string",
    value: "NAME",
    help: "what edits windows (longhaul); none leaves requests alone",
  },
  "dry-run": { type: "boolean", help: "plan and report what would be saved, change nothing" },
  threshold: { type: "string", value: "PERCENT", help: "how full a window may be before it is edited (75)" },
  recall: { type: "string", value: "WHAT", help: "recall for agents: tools, context, all or none (none)" },
  redact: { type: "boolean", help: "take secrets out of what is stored" },
  upstream: {
    type: "string",
    multiple: true,
    value: "[NAME=]URL",
    help: "where a provider's requests go; without a name: all requests",
  },
  config: {
    type: "string",
    value: "FILE",
    help: "configuration (LONGHAUL_CONFIG, else longhaul.json in the store's folder)",
  },
  log: { type: "string", value: "LEVEL", help: "silent, error, info or debug (info)" },
  schema: { type: "boolean", help: "print the JSON schema of the configuration and end" },
  "new-token": { type: "boolean", help: "print a fresh token and end" },
} as const satisfies OptionSpecs;

export type ServeValues = OptionValues<typeof SERVE_OPTIONS>;
