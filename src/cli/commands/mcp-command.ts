import { resolve } from "node:path";
import { openKernel } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { defineCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { getStoreOptions } from "../open-store.ts";
import { escapeLine } from "../terminal/escape.ts";
import { printTo } from "../terminal/printer.ts";
import { UsageError } from "../usage-error.ts";

/** Serves memory to an agent over the Model Context Protocol, on standard input and output. */
export const mcpCommand = defineCommand({
  name: "mcp",
  summary: "serve memory to an agent over the Model Context Protocol (MCP)",
  usage: ["mcp [--tools default|all] [--project PATH] [options]", "mcp --skill"],
  about:
    'Agents start this command themselves and talk to it on standard input and output; "longhaul connect --mcp" writes it into their configuration. It works beside a running gateway, which serves the same at /mcp. Recall prefers the project of the folder it is started in.',
  options: {
    tools: {
      type: "string",
      value: "SET",
      help: "tools to offer: default (recall, expand, remember, forget, sessions) or all (also context, compact, pins, tasks)",
    },
    project: {
      type: "string",
      value: "PATH",
      help: "folder of the project that recall prefers (default: the agent's folder)",
    },
    session: {
      type: "string",
      value: "SESSION",
      help: "the conversation that asks, which recall leaves out (default: found by its calls)",
    },
    skill: {
      type: "boolean",
      help: "print the skill file that tells agents when to use the tools, and exit",
    },
  },
  maxOperands: 0,
  examples: [
    "longhaul mcp",
    "longhaul mcp --tools all --project ~/shop",
    "longhaul mcp --skill > ~/.claude/skills/longhaul-memory/SKILL.md",
  ],
  async run(context, { options }) {
    const { serveMcpStdio, SKILL_FILE } = await import("../../adapters/mcp/index.ts");
    const { stdin, stdout, stderr, signal, cwd, env } = context;
    if (options.skill) {
      await printTo(stdout, SKILL_FILE);
      return EXIT.fine;
    }
    const { tools = "default", session } = options;
    if (tools !== "default" && tools !== "all")
      throw new UsageError(`--tools is ${JSON.stringify(tools)}; expected default or all`);
    const warn = (message: string) => {
      if (!options.quiet) stderr.write(`longhaul: ${escapeLine(message)}\n`);
    };
    await using kernel = await openKernel({ ...getStoreOptions(context, options), onWarning: warn });
    const project = resolve(cwd, options.project ?? (env.CLAUDE_PROJECT_DIR || cwd));
    await serveMcpStdio({
      kernel,
      tools,
      caller: { projects: [project], ...dropUndefined({ session }) },
      stdin,
      stdout,
      signal,
      onError: (error) => warn(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    });
    return EXIT.fine;
  },
});
