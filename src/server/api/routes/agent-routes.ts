import { z } from "zod";
import { type AgentChange, type AgentConnections, CONNECTION_WAYS } from "../core/agent-connections.ts";
import { isAdminCaller } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { type ApiRoute, defineRoute, type RouteCall } from "../core/route.ts";
import { confirmSchema } from "../schemas/common-schemas.ts";

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

const agentSchema = defineSchema(
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

const agentChangeSchema = defineSchema(
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

const tag = "Agents";
const agentParams = z.strictObject({ agent: about(z.string().min(1).max(100), "Name, as claude-code.") });
const changeBody = z.strictObject({
  way: about(
    z.enum(CONNECTION_WAYS).default("gateway"),
    "`gateway` sends the agent's requests through the gateway, `mcp` gives it the MCP server.",
  ),
  confirm: confirmSchema.optional(),
});

type Change = "connect" | "disconnect";

/** The agents' files; throws FORBIDDEN unless the person who runs the gateway asks from its own computer. */
function requireConnections({ services: { agents }, caller }: RouteCall): AgentConnections {
  if (!isAdminCaller(caller) || !caller.isOnLoopback)
    throw new ApiError(
      "FORBIDDEN",
      "Only the person who runs the gateway may see and change the agents of its computer, and only on that computer.",
    );
  if (agents) return agents;
  throw new ApiError(
    "ROUTE_NOT_FOUND",
    'This gateway runs inside another program, which does not manage agents; "longhaul serve" does.',
  );
}

const listAgents = defineRoute(
  {
    id: "listAgents",
    method: "GET",
    path: "/agents",
    tag,
    summary: "List the agents that can be connected, with their state",
    description: "Only for the person who runs the gateway, on its own computer.",
    reply: z.object({
      url: about(z.string(), "The address that agents are pointed at."),
      agents: z.array(agentSchema),
    }),
    errors: ["FORBIDDEN", "ROUTE_NOT_FOUND"],
  },
  async (call) => {
    const connections = requireConnections(call);
    return { url: connections.url, agents: connections.list() };
  },
);

function defineChange<const Name extends Change>(change: Name, summary: string) {
  return defineRoute(
    {
      id: `${change}Agent`,
      method: "POST",
      path: `/agents/{agent}/${change}` as const,
      tag,
      summary,
      description:
        "The first call shows the change and writes nothing; a second one with its `confirm` writes it. Only for the person who runs the gateway, on its own computer.",
      params: agentParams,
      body: changeBody,
      reply: agentChangeSchema,
      errors: ["FORBIDDEN", "ROUTE_NOT_FOUND", "PREVIEW_CHANGED", "AGENT_FILE_REFUSED"],
    },
    async (call) => {
      const connections = requireConnections(call);
      const { agent } = call.params;
      const { way, confirm } = call.body;
      const plan = connections.plan(agent, way, change);
      if (!plan)
        throw new ApiError("ROUTE_NOT_FOUND", `There is no agent ${JSON.stringify(agent)}.`, {
          details: {
            agents: connections
              .list()
              .map(({ name }) => name)
              .join(", "),
          },
        });
      if (confirm === undefined) return toChangeJson(plan, way, false);
      if (confirm !== plan.digest || !connections.apply(agent, way, change, confirm))
        throw new ApiError("PREVIEW_CHANGED", "The file or the change has become another one since.");
      const { services, caller } = call;
      if (plan.files.length > 0)
        await services.kernel.team.record({
          actor: caller.id,
          act: `config.${change}`,
          target: agent,
          details: { way, files: plan.files.length },
        });
      return toChangeJson(plan, way, plan.files.length > 0);
    },
  );
}

function toChangeJson(
  { name, title, files, notes, obstacle, digest }: AgentChange,
  way: (typeof CONNECTION_WAYS)[number],
  isApplied: boolean,
) {
  const reason = obstacle === undefined ? {} : { obstacle };
  return { agent: name, title, way, files, notes, ...reason, isApplied, confirm: digest };
}

export const AGENT_ROUTES = [
  listAgents,
  defineChange("connect", "Connect an agent, after a preview of its file"),
  defineChange("disconnect", "Disconnect an agent, after a preview of its file"),
] as const satisfies readonly ApiRoute[];
