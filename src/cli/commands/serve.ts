import { defineCommand, type OptionSpecs, type OptionValues } from "../command.ts";
import { safeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { printTo } from "../printer.ts";

/** Options of serve. */
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
  config: { type: "string", value: "FILE", help: "configuration (longhaul.json here, else in the store)" },
  log: { type: "string", value: "LEVEL", help: "silent, error, info or debug (info)" },
  schema: { type: "boolean", help: "print the JSON schema of the configuration and end" },
  "new-token": { type: "boolean", help: "print a fresh token and end" },
} as const satisfies OptionSpecs;

/** What was given of them. */
export type ServeValues = OptionValues<typeof SERVE_OPTIONS>;

/** Serves agents: a gateway between them and their models. */
export const serveCommand = defineCommand({
  name: "serve",
  summary: "serve agents: endless context for any of them, by changing one URL",
  usage: ["serve [--port PORT] [--host HOST] [--policy NAME] [--dry-run] [options]"],
  about:
    "Listens on loopback and prints what to paste for each agent. Keys come from the environment or from the agent; tokens\nfrom LONGHAUL_TOKEN, never from the command line. What is in the file takes effect when it is saved.",
  options: SERVE_OPTIONS,
  maxOperands: 0,
  examples: [
    "longhaul serve",
    "longhaul serve --dry-run --port 0",
    "longhaul serve --upstream anthropic=http://127.0.0.1:8080 --recall tools",
    "LONGHAUL_TOKEN=$(longhaul serve --new-token --quiet) longhaul serve --host 0.0.0.0",
  ],
  async run(context, { options }) {
    if (options.schema) {
      const { configSchemaJson } = await import("../../gateway/config/config.ts");
      await printTo(context.stdout, `${JSON.stringify(configSchemaJson(), undefined, 2)}\n`);
      return EXIT.fine;
    }
    if (options["new-token"]) {
      const { newToken } = await import("../../gateway/config/token.ts");
      const token = newToken();
      const use = `${token}\n\nSet it where the gateway runs, and give it to those who may use it:\n  export LONGHAUL_TOKEN=${token}\nAgents send it as x-longhaul-token, or as their key; nothing keeps it but you.\n`;
      const plain = options.quiet ? `${token}\n` : use;
      await printTo(context.stdout, options.json ? `${safeJson({ token })}\n` : plain);
      return EXIT.fine;
    }
    // The gateway is loaded only by those who start one.
    const { serve } = await import("../serving/serve.ts");
    return serve(context, options);
  },
});
