import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";

const linkSchema = defineSchema(
  "AgentLink",
  z.object({
    state: about(
      z.enum(["connected", "other", "absent", "manual", "unsupported", "refused"]),
      '"other": connected to another address, or with other settings. "manual": only the person can do it. "refused": the file cannot be edited safely.',
    ),
    path: about(z.string().optional(), "The agent's configuration file."),
    note: about(z.string().optional(), "Steps for the person, or the reason."),
  }),
  "One way of connecting an agent.",
);

export const agentSchema = defineSchema(
  "Agent",
  z.object({
    name: z.string(),
    title: z.string(),
    isFound: about(z.boolean(), "True if the agent is used on this computer."),
    gateway: about(linkSchema, "Its requests go through the gateway."),
    mcp: about(linkSchema, "It has longhaul as an MCP server."),
  }),
  "An agent that longhaul can connect.",
);

const fileChangeSchema = defineSchema(
  "ConfigFileChange",
  z.object({
    path: z.string(),
    isNew: about(z.boolean(), "True if the file does not exist yet."),
    isRemoved: about(z.boolean(), "True if the file is removed, because longhaul made it."),
    diff: about(
      z.array(z.object({ mark: z.enum([" ", "+", "-", "@"]), text: z.string() })),
      "Changed lines with their neighbors; secrets are masked. `@` gives the number of the next line.",
    ),
  }),
);

export const agentChangeSchema = defineSchema(
  "AgentChange",
  z.object({
    agent: z.string(),
    title: z.string(),
    way: z.enum(["gateway", "mcp"]),
    files: about(z.array(fileChangeSchema), "Empty if there is nothing to change."),
    notes: about(z.array(z.string()), "Remaining steps, and effects on other settings."),
    obstacle: about(z.string().optional(), "Why nothing can be changed."),
    isApplied: z.boolean(),
    confirm: z.string(),
  }),
  "A change of an agent's configuration.",
);
