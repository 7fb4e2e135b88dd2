import { defineCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { isFirstRun } from "../first-run/first-run.ts";
import { SERVE_OPTIONS } from "../serving/serve-options.ts";
import { toSafeJson } from "../terminal/escape.ts";
import { printTo } from "../terminal/printer.ts";

/** Runs the gateway between agents and their models. */
export const serveCommand = defineCommand({
  name: "serve",
  summary: "run the gateway: endless context for any agent, by changing one URL",
  usage: ["serve [--port PORT] [--host HOST] [--policy NAME] [--dry-run] [options]"],
  about:
    'Listens on the loopback address and prints the settings to paste for each agent. Keys come from the environment or from the agent; tokens come from LONGHAUL_TOKEN, never from the command line. A change to the configuration in your own folder takes effect when the file is saved; a longhaul.json in the working folder counts only after "longhaul trust", and only for harmless settings.',
  options: SERVE_OPTIONS,
  maxOperands: 0,
  examples: [
    "longhaul serve",
    "longhaul serve --dry-run --port 0",
    "longhaul serve --hooks-only",
    "longhaul serve --upstream anthropic=http://127.0.0.1:8080 --recall always",
    "LONGHAUL_TOKEN=$(longhaul serve --new-token --quiet) longhaul serve --host 0.0.0.0",
  ],
  async run(context, { options }) {
    if (options.schema) {
      const { getConfigSchemaJson } = await import("../../server/gateway/config/index.ts");
      await printTo(context.stdout, `${JSON.stringify(getConfigSchemaJson(), undefined, 2)}\n`);
      return EXIT.fine;
    }
    if (options["new-token"]) {
      const { createToken } = await import("../../server/gateway/config/access-token.ts");
      const token = createToken();
      const use = `${token}\n\nSet it in the gateway's environment, and share it with the people who may use the gateway:\n  export LONGHAUL_TOKEN=${token}\nAgents send it in the header x-longhaul-token, or as their API key. longhaul does not store it.\n`;
      const plain = options.quiet ? `${token}\n` : use;
      await printTo(context.stdout, options.json ? `${toSafeJson({ token })}\n` : plain);
      return EXIT.fine;
    }
    if (options["hooks-only"]) {
      const { serveHooks } = await import("../serving/serve-hooks.ts");
      return serveWatched(() => serveHooks(context, options));
    }
    if (isFirstRun(context, options)) {
      const { runTour } = await import("../first-run/run-tour.ts");
      await runTour(context, options, { isServing: true });
      if (context.signal.aborted) return EXIT.fine;
    }
    // Loaded lazily: the options above do not need the gateway.
    const { serveGateway: serve } = await import("../serving/serve-gateway.ts");
    return serveWatched(() => serve(context, options));
  },
});

/** Serves under the watchdog, which ends a process whose loop never comes back. */
async function serveWatched(serve: () => Promise<number>): Promise<number> {
  const { watchLoop } = await import("../serving/watch-loop.ts");
  const leave = watchLoop();
  try {
    return await serve();
  } finally {
    leave();
  }
}
