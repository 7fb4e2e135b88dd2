import { z } from "zod";
import type { Json } from "../../../kernel/index.ts";
import { about } from "../core/named-schema.ts";
import { openForChange, openOwn } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import { sessionIdSchema } from "../schemas/common-schemas.ts";

const tag = "Facts";
/** The gateway keeps facts of its own under other names. */
const PREFIX = "api ";
const factParams = z.strictObject({ session: sessionIdSchema, name: z.string().min(1).max(200) });
const factSchema = z.object({
  session: z.string(),
  name: z.string(),
  value: about(z.unknown(), "Any JSON; null if the fact was never set or was cleared."),
});

const getFact = defineRoute(
  {
    id: "getFact",
    method: "GET",
    path: "/sessions/{session}/facts/{name}",
    tag,
    summary: "Read a small named value of a conversation",
    params: factParams,
    reply: factSchema,
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params: { session: id, name } }) => {
    await using session = await openOwn(kernel, caller, id);
    return { session: session.id, name, value: (await session.facts.get(`${PREFIX}${name}`)) ?? null };
  },
);

const setFact = defineRoute(
  {
    id: "setFact",
    method: "POST",
    path: "/sessions/{session}/facts/{name}",
    tag,
    summary: "Set a small named value of a conversation; it is stored apart from the log",
    params: factParams,
    body: z.strictObject({ value: about(z.unknown(), "Any JSON; null clears the fact.") }),
    reply: factSchema,
    errors: ["SESSION_NOT_FOUND", "ARGUMENT_INVALID", "FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params: { session: id, name }, body: { value = null } }) => {
    await using session = await openForChange(kernel, caller, id);
    await session.facts.set(`${PREFIX}${name}`, value as Json);
    return { session: session.id, name, value };
  },
);

export const FACT_ROUTES = [getFact, setFact] as const satisfies readonly ApiRoute[];
