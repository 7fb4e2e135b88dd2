import type { HistoryImport } from "../../api/jobs/index.ts";
import { PageFault } from "./page-fault.ts";
import type { PageReply } from "./page-reply.ts";
import { checkMethod, type PageRequest } from "./page-request.ts";

/** The import of local histories: GET returns its state, POST starts a run, DELETE stops it. */
export async function buildImportPage(imports: HistoryImport, callRequest: PageRequest): Promise<PageReply> {
  const { method, prefixes, query } = callRequest;
  checkMethod(callRequest, "GET", "HEAD", "POST", "DELETE");
  if (prefixes !== undefined)
    throw new PageFault(
      403,
      "FORBIDDEN",
      "Only a user who sees all sessions may import; ask the gateway's owner.",
    );
  if (method === "POST") imports.start(query.get("format")?.split(","));
  if (method === "DELETE") await imports.close();
  return { status: method === "POST" ? 202 : 200, json: imports.state };
}
