import { z } from "zod";
import { exportSession, type OutputPiece, WRITERS } from "../../formats/index.ts";
import { about } from "../core/named-schema.ts";
import { requireRecord } from "../core/own-sessions.ts";
import { type ApiRoute, defineDownload, defineRoute } from "../core/route.ts";
import { sessionParams } from "../schemas/common-schemas.ts";

/** Writers of a folder of files need the command line. */
const ONE_FILE = WRITERS.filter(({ isFolder }) => !isFolder);
const NAMES = ONE_FILE.map(({ name }) => name) as [string, ...string[]];

const listExportFormats = defineRoute(
  {
    id: "listExportFormats",
    method: "GET",
    path: "/formats",
    tag: "Sessions",
    summary: "List the formats in which a conversation can be downloaded",
    reply: z.object({ formats: z.array(z.object({ name: z.string(), title: z.string() })) }),
  },
  async () => ({ formats: ONE_FILE.map(({ name, title }) => ({ name, title })) }),
);

const exportConversation = defineDownload(
  {
    id: "exportSession",
    method: "GET",
    path: "/sessions/{session}/export",
    tag: "Sessions",
    summary: "Download a conversation in another format",
    params: sessionParams,
    query: z.strictObject({ to: about(z.enum(NAMES).default("markdown"), "The format.") }),
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params, query }) => {
    const { id } = await requireRecord(kernel, caller, params.session);
    if (caller.name !== undefined && !id.startsWith(caller.homePrefix))
      await kernel.team.record({
        actor: caller.id,
        act: "session.export",
        target: id,
        details: { format: query.to },
      });
    const writer =
      ONE_FILE.find(({ name }) => name === query.to) ?? (ONE_FILE[0] as (typeof ONE_FILE)[number]);
    const isText = writer.name === "markdown";
    return {
      mime: isText ? "text/markdown; charset=utf-8" : "application/json; charset=utf-8",
      fileName: `${id.replace(/[^\w.-]+/g, "-").slice(-80)}.${isText ? "md" : "json"}`,
      bytes: readTexts(exportSession(kernel, id, writer)),
    };
  },
);

async function* readTexts(pieces: AsyncIterable<OutputPiece>): AsyncGenerator<string> {
  for await (const { text } of pieces) yield text;
}

export const EXPORT_ROUTES = [listExportFormats, exportConversation] as const satisfies readonly ApiRoute[];
