import type { OptionSpecs, OptionValues } from "../cli-command.ts";

export const SERVE_OPTIONS = {
  port: { type: "string", value: "PORT", help: "port to listen on (default: 4747); 0 picks a free port" },
  host: {
    type: "string",
    value: "HOST",
    help: "address to listen on (default: 127.0.0.1); any other needs a token",
  },
  policy: {
    type: "string",
    value: "NAME",
    help: "window policy (default: longhaul); none leaves requests unchanged",
  },
  "dry-run": { type: "boolean", help: "plan edits and report the savings; change nothing" },
  threshold: {
    type: "string",
    value: "PERCENT",
    help: "fill level from which tool output leaves at the latest; words stay until the window is full (default: 80)",
  },
  when: {
    type: "string",
    value: "WHEN",
    help: "early removes tool output as soon as that pays (default), late only at the threshold",
  },
  recall: {
    type: "string",
    value: "WHEN",
    help: "when agents are offered recall tools: start (of a conversation), edit, never or always (default: first edit or uncached request of 50,000 tokens); all adds context",
  },
  redact: { type: "boolean", help: "remove secrets from stored content" },
  upstream: {
    type: "string",
    multiple: true,
    value: "[NAME=]URL",
    help: "address for a provider's requests; without a name, for all requests",
  },
  config: {
    type: "string",
    value: "FILE",
    help: "configuration file (default: LONGHAUL_CONFIG, else longhaul.json in the store's folder)",
  },
  log: {
    type: "string",
    value: "LEVEL",
    help: "log level: silent, error, info or debug (default: info); json writes JSON lines to a terminal too",
  },
  "keep-histories": {
    type: "boolean",
    help: "also import new conversations of the agents on this computer, before they delete them",
  },
  "hooks-only": {
    type: "boolean",
    help: "answer only the hooks of agents, on a local socket that only you may open; no gateway",
  },
  schema: { type: "boolean", help: "print the JSON schema of the configuration and exit" },
  "new-token": { type: "boolean", help: "print a new token and exit" },
} as const satisfies OptionSpecs;

export type ServeValues = OptionValues<typeof SERVE_OPTIONS>;
