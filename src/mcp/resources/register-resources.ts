import {
  type McpServer,
  ResourceNotFoundError,
  ResourceTemplate,
  type Variables,
} from "@modelcontextprotocol/server";
import type { Session } from "../../index.ts";
import { sanitizeName } from "../../memory/text/sanitize-text.ts";
import type { McpCall } from "../tool-definition.ts";
import { renderSession, renderSummaries } from "./session-text.ts";
import { buildSessionUri, SESSION_TEMPLATE, SUMMARIES_TEMPLATE } from "./session-uri.ts";

const MAX_LISTED = 50;
const TEXT = "text/plain";

/** The surroundings of a request, apart from the request itself. */
type McpPlace = Omit<McpCall, "context" | "canAskUser">;

/** Registers sessions and their summaries; only those of the caller exist. */
export function registerResources(server: McpServer, place: McpPlace): void {
  const { service, caller } = place;
  const read = async (uri: URL, { id }: Variables, render: (session: Session) => Promise<string>) => {
    const own = await service.getState(caller).conversations.list();
    const found = own.find((one) => one.id === id);
    if (!found || !(await service.kernel.find(found.id))) throw new ResourceNotFoundError(uri.href);
    await using session = await service.kernel.session(found.id);
    return { contents: [{ uri: uri.href, mimeType: TEXT, text: await render(session) }] };
  };
  server.registerResource(
    "session",
    new ResourceTemplate(SESSION_TEMPLATE, { list: () => listResources(place) }),
    {
      title: "Conversation",
      description: "A conversation, verbatim, from one seq to another",
      mimeType: TEXT,
    },
    (uri, variables) => {
      const bounds = { from: toSeq(variables.from, 1), to: toSeq(variables.to, Number.POSITIVE_INFINITY) };
      return read(uri, variables, (session) => renderSession(service.kernel, session, bounds));
    },
  );
  server.registerResource(
    "summaries",
    new ResourceTemplate(SUMMARIES_TEMPLATE, { list: undefined }),
    { title: "Summaries", description: "The summaries of a conversation", mimeType: TEXT },
    (uri, variables) => read(uri, variables, renderSummaries),
  );
}

/** The newest conversations of the project. */
async function listResources({ service, caller, findProjects }: McpPlace) {
  const { sessions } = await service.getState(caller).conversations.within(await findProjects());
  const records = await Promise.all(sessions.slice(0, MAX_LISTED).map((id) => service.kernel.find(id)));
  const resources = records.flatMap((record) =>
    record
      ? [
          {
            uri: buildSessionUri(record.id),
            name: sanitizeName(record.title ?? record.id, 80),
            mimeType: TEXT,
          },
        ]
      : [],
  );
  return { resources };
}

function toSeq(value: string | string[] | undefined, otherwise: number): number {
  const number = Number(value);
  return value !== undefined && Number.isInteger(number) && number > 0 ? number : otherwise;
}
